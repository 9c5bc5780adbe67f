"""The table of an off-policy evaluation."""

import io

from rich.console import Console

from elicit_gym.offline.ope.evaluate import evaluate_off_policy
from elicit_gym.offline.ope.table import print_off_policy
from tests.offline.ope.samples import TARGET, Table, every_episode, with_coin


def _shown(copies: int) -> str:
    console = Console(file=io.StringIO(), width=100)
    print_off_policy(evaluate_off_policy(with_coin(every_episode(copies)), Table("target", TARGET)), console)
    assert isinstance(console.file, io.StringIO)
    return " ".join(console.file.getvalue().split())


def test_numbers_and_evidence() -> None:
    shown = _shown(20)
    assert "Expected return of target from recorded dialogues" in shown
    assert shown.count("3.64 [") == 3
    assert "the dialogues as they are │ 2.25 [" in shown
    assert "80 dialogues with 120 actions. Effective sample size: 36.7 for whole returns" in shown
    assert "Fewer than" not in shown


def test_too_little_evidence() -> None:
    shown = _shown(1)
    assert "no interval: 4 dialogues" in shown
    assert "Fewer than 10 effective dialogues" in shown
