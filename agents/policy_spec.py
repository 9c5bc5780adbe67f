"""How a policy is written where one is named: ``[LABEL=]SPEC[,OPTION=VALUE ...]``."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elicit_gym.errors import SettingError
from elicit_gym.registry import POLICIES

__all__ = ["PolicySpec", "parse_policy_spec"]

_NUMBERS: dict[str, type] = {"temperature": float, "top-p": float, "max-tokens": int, "timeout": float}
_TEXTS = ("api-base", "api-key-env")
_LABEL = re.compile(r"(?P<label>[^=:,/\\]+)=(?P<rest>.+)", re.DOTALL)
_SAMPLING = ("temperature", "top_p", "max_tokens")


@dataclass(frozen=True, kw_only=True)
class PolicySpec:
    """A policy as it was written.

    Attributes:
        label: how reports call it; None for its own name.
        spec: what makes it.
        options: of its model, as arguments of `elicit_gym.llm.make.make_chat_model`.
    """

    spec: str
    label: str | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def suffix(self) -> str:
        """What tells it from the same model sampled otherwise, where it has no label."""
        return "".join(f", {name}={self.options[name]:g}" for name in _SAMPLING if name in self.options)


def parse_policy_spec(text: str) -> PolicySpec:
    """Read what a user wrote, such as ``cold=litellm:openai/gpt-4o-mini,temperature=0``.

    Raises:
        SettingError: an option's value is not of its type.
    """
    if text in POLICIES.names() or Path(text).exists():
        return PolicySpec(spec=text)
    label = None
    named = _LABEL.fullmatch(text)
    if named is not None:
        label, text = named["label"].strip(), named["rest"]
    spec, *parts = re.split(rf",(?=(?:{'|'.join((*_NUMBERS, *_TEXTS))})=)", text)
    options: dict[str, Any] = {}
    for part in parts:
        key, _, value = part.partition("=")
        try:
            options[key.replace("-", "_")] = _NUMBERS.get(key, str)(value)
        except ValueError:
            raise SettingError(
                f"Loading the policy {text!r}: expected a number for {key}, got {value!r}. Fix it."
            ) from None
    return PolicySpec(spec=spec, label=label, options=options)
