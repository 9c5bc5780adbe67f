"""Prompt files: text with named placeholders, replaced in one pass; a user's folder overrides any of them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from itertools import count
from pathlib import Path

from elicit_gym.errors import SettingError
from elicit_gym.file_limits import current_limits, decode_text, read_bytes

__all__ = ["Prompt", "load_prompt", "mark_outside", "read_prompt"]

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True)
class Prompt:
    """A prompt file.

    Attributes:
        name: the file's name without its ending.
        text: the file's text.
    """

    name: str
    text: str

    def fill(self, **values: str) -> str:
        """Replace the placeholders, all in one pass, so that braces in a value stay what they are."""
        return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), self.text)

    @property
    def sha256(self) -> str:
        """The hash of the text, for manifests."""
        return sha256(self.text.encode("utf-8")).hexdigest()


def load_prompt(package: str, name: str, required: Sequence[str], folder: str | Path | None = None) -> Prompt:
    """Load a prompt.

    Args:
        package: the package whose ``prompts`` folder holds the built-in file.
        name: the file's name without ``.txt``.
        required: the placeholders that the text must have.
        folder: the user's folder; a file of that name in it takes precedence.

    Raises:
        SettingError: the folder does not exist, the file cannot be read, or it lacks a placeholder.
    """
    if folder is not None:
        directory = Path(folder)
        if not directory.is_dir():
            raise SettingError(f"Loading prompts: expected a folder, got {str(folder)!r}. Check the path.")
        own = directory / f"{name}.txt"
        if own.is_file():
            return _checked(read_prompt(own), required, str(own))
    text = (files(package) / "prompts" / f"{name}.txt").read_text(encoding="utf-8")
    return _checked(Prompt(name, text), required, f"{package}/prompts/{name}.txt")


def read_prompt(path: Path) -> Prompt:
    """Read a prompt file of a user's, whose name is the prompt's.

    Raises:
        SettingError: it cannot be read, is too large for a text, or is not text.
    """
    text, _ = decode_text(read_bytes(path, current_limits()), str(path))
    return Prompt(path.stem, text)


def _checked(prompt: Prompt, required: Sequence[str], where: str) -> Prompt:
    missing = [name for name in required if f"{{{name}}}" not in prompt.text]
    if missing:
        listed = ", ".join(f"{{{name}}}" for name in missing)
        raise SettingError(f"{where}: expected every placeholder of this prompt, got a text without {listed}. Add it.")
    return prompt


def mark_outside(fixed: Iterable[str], foreign: Iterable[str]) -> str:
    """Return a mark to fence foreign text with: it derives from fixed texts, and occurs in none of all these texts.

    As long as the foreign texts do not hold it, it is the same for the same fixed texts, so that prompts begin alike
    and providers' prompt caches work; one that holds it gets the next.

    Args:
        fixed: what all prompts that should share the mark have in common.
        foreign: what somebody else wrote.
    """
    known = "\x1f".join(fixed)
    texts = "\x1f".join((known, *foreign))
    seed = known.encode("utf-8", "surrogatepass")
    marks = (f"@{sha256(b'%d' % n + seed).hexdigest()[:12]}@" for n in count())
    return next(mark for mark in marks if mark not in texts)
