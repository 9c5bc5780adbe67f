"""The command line in this process: torch is slow to import, and coverage sees it."""

import sys

import pytest

from elicit_gym.cli import main


def command(*arguments: object) -> int:
    """Run ``elicit-gym ARGUMENTS`` and return its exit status."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["elicit-gym", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
    return int(stop.value.code or 0)
