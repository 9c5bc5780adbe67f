"""Playing in the terminal, by scripted keystrokes."""

from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console

from elicit_gym.agents import load_policy
from elicit_gym.cli.play import play_assistant, play_user
from tests.envs.parts import registered_parts


class Keyboard(Console):
    """A console whose keystrokes are given; end of input after them."""

    def __init__(self, *lines: str) -> None:
        super().__init__(width=120, record=True, quiet=False, file=open("/dev/null", "w", encoding="utf-8"))  # noqa: SIM115
        self.lines: Iterator[str] = iter(lines)

    def input(self, *_: Any, **__: Any) -> str:
        """Return the next line."""
        for line in self.lines:
            return line
        raise EOFError


def test_a_person_plays_the_assistant() -> None:
    console = Keyboard("", "Which hours of the day are free for baking?", "Well.")
    total = play_assistant(scenario_id="00-a", seed=0, env_kwargs={"max_turns": 2}, console=console)
    assert total == 1.0
    text = console.export_text()
    assert "expected a non-empty string" in text
    assert "The end: return 1 of 5 in 2 turns." in text


def test_the_end_says_who_left_and_what_succeeded() -> None:
    with registered_parts():
        console = Keyboard(*["Hm."] * 30)
        play_assistant(
            scenario_id="00-a", seed=0, env_kwargs={"max_turns": 30, "user_simulator": "leaving"}, console=console
        )
    assert "The user has left: return 0 of 5" in console.export_text()


def test_a_person_plays_the_user() -> None:
    console = Keyboard(*["I have put aside six hundred pounds."] * 9)
    total = play_user(load_policy("oracle"), scenario_id="00-a", seed=0, env_kwargs={}, console=console)
    text = console.export_text()
    assert f"return {total:g} of 5" in text
    assert "goal:" in text


@pytest.mark.parametrize("play", ["assistant", "user"])
def test_end_of_input_stops_it(play: str) -> None:
    console = Keyboard()
    if play == "assistant":
        assert play_assistant(scenario_id="00-a", seed=0, env_kwargs={}, console=console) == 0
    else:
        assert play_user(load_policy("ask-one"), scenario_id="00-a", seed=0, env_kwargs={}, console=console) == 0
    assert "Stopped: return 0 of 5 in 0 turns." in console.export_text()
