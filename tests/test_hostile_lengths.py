"""Whatever a text repeats, and however often: every function that works on a text of somebody else's takes linear time."""

import subprocess
import sys

from tests.conftest import ROOT
from tests.text_functions import FUNCTIONS, UNITS

SCRIPT = """
import signal, sys
from tests.text_functions import FUNCTIONS, UNITS

# Of the processor's time, not of the wall's: a busy machine changes nothing. The slowest call needs 0.2 s of it; one that
# goes back and forth in 100,000 characters needs minutes, and the signal ends the process.
allowed = int(sys.argv[1])
for name, function in {}:
    for length in (5_900, 100_000):
        for unit in UNITS:
            for before, after in (("", ""), ("x", "x"), ("Result: a", "x"))[: 3 if "verdict" in name else 2]:
                print(length, repr(name), ascii(unit), ascii(before), flush=True)
                signal.setitimer(signal.ITIMER_VIRTUAL, allowed)
                function(before + unit * (length // len(unit)) + after)
print("all")
"""


def last_line_of(functions: str, allowed: int = 10) -> str:
    """Run functions on all repetitions in a process of their own, and return what it said last."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(functions), str(allowed)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    return f"{done.stdout.splitlines()[-1]} {done.stderr[-2000:]}".strip()


def test_every_function_takes_linear_time_on_every_repetition() -> None:
    assert len(FUNCTIONS) > 35
    assert len(UNITS) > 100
    assert last_line_of("FUNCTIONS.items()") == "all"


def test_a_pattern_that_goes_back_and_forth_is_caught() -> None:
    code = "[('bad', lambda text: __import__('re').findall('<a>.*?</a>', '<a>' * len(text)))]"
    assert last_line_of(code, allowed=1).startswith("100000 'bad'")
