"""The system line of a prompted policy: loaded from a file, and put before a history in one way everywhere."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from elicit_gym.errors import SettingError
from elicit_gym.llm.prompts import Prompt, load_prompt, read_prompt
from elicit_gym.types import ChatHistory, Message

__all__ = ["load_system_prompt", "split_prompt", "with_system_prompt"]

_PACKAGE = "elicit_gym.agents"


def _names() -> list[str]:
    return sorted(
        path.name.removesuffix(".txt") for path in files(_PACKAGE).joinpath("prompts").iterdir() if path.is_file()
    )


def load_system_prompt(name: str, folder: str | None = None) -> Prompt:
    """Load a system prompt by name (``plain``, ``clarify``, ``elicitor``) or from a file.

    Raises:
        SettingError: there is none, or it is not UTF-8 text.
    """
    path = Path(name)
    if path.is_file():
        return read_prompt(path)
    try:
        return load_prompt(_PACKAGE, name, (), folder)
    except FileNotFoundError as error:
        raise SettingError(
            f"Loading a system prompt: expected one of {', '.join(_names())} or the path of a file, got {name!r}. "
            "Check it."
        ) from error


def split_prompt(spec: str) -> tuple[str, str | None]:
    """Split ``litellm:MODEL+PROMPT`` into the model's part and the prompt's, which is None if there is no prompt."""
    model, plus, prompt = spec.rpartition("+")
    if plus and model and (prompt in _names() or Path(prompt).is_file()):
        return model, prompt
    return spec, None


def with_system_prompt(history: Sequence[Message], text: str) -> ChatHistory:
    """Put a prompt before a history.

    A system line that the history begins with comes first and the prompt after it, in one message: many chat templates
    take one system message only.

    References:
        YIELD, Section 6.4: prompted models get the base instruction of the domain and an additional prompt.
    """
    if not text:
        return tuple(history)
    if history and history[0].role == "system":
        return (Message(role="system", content=f"{history[0].content}\n\n{text}"), *history[1:])
    return (Message(role="system", content=text), *history)
