"""Ctrl-C in two stages: the first lets what is under way finish and be saved, the second does not wait for it."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Interrupts", "Killed", "two_stages"]

REMARK = b"\nelicit-gym: finishing what is under way; Ctrl-C once more does not wait for it.\n"


class Killed(KeyboardInterrupt):
    """Raised at the second Ctrl-C, which does not wait for what is under way."""


class Interrupts:
    """How often Ctrl-C was pressed.

    Attributes:
        count: the number of times.
    """

    count = 0

    def note(self, signal_number: int, frame: FrameType | None) -> None:
        """Count one; as a signal's handler.

        Raises:
            Killed: it is the second one.
        """
        self.count += 1
        if self.count > 1:
            raise Killed
        # The main thread may hold the lock of `sys.stderr`, so this goes past it.
        os.write(2, REMARK)


@contextmanager
def two_stages() -> Iterator[Interrupts]:
    """Count Ctrl-C in place of raising `KeyboardInterrupt` wherever the main thread happens to be.

    An interrupt that is raised while a record is being written, or while a worker hands one over, would lose what is
    under way. A handler that the program has installed itself is left alone, and in another thread than the main one
    no handler can be installed: Ctrl-C is then the program's business.
    """
    interrupts = Interrupts()
    own = threading.current_thread() is threading.main_thread()
    if not own or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield interrupts
        return
    signal.signal(signal.SIGINT, interrupts.note)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
