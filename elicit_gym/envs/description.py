"""What an environment says of itself: the one source of its settings, for manifests and reports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from elicit_gym.types import Description

__all__ = ["EnvironmentDescription", "ScenarioSet"]


@dataclass(frozen=True, kw_only=True)
class ScenarioSet:
    """Which scenarios an environment draws from.

    Attributes:
        count: how many.
        sha256: of their content, which identifies them.
        source: remark: the name or path that they were loaded from, ``objects`` where they were handed over.
        split: remark: the part of the source that was taken; None for all of it.
    """

    count: int
    sha256: str
    source: str
    split: str | None = None

    def identity(self) -> dict[str, Any]:
        """Return what two runs have to share: the content, wherever it lies."""
        return {"sha256": self.sha256}


@dataclass(frozen=True, kw_only=True)
class EnvironmentDescription:
    """What an environment's episodes depend on beside the scenarios, in JSON types.

    Attributes:
        kind: its class as ``module:Class``; text for the reader, as are the kinds of its parts.
        max_turns: messages that the agent may send.
        user_simulator, judge, reward: its parts.
        settings: arguments of a class of one's own beside those of `InfoQuestEnv`.
    """

    kind: str
    max_turns: int
    user_simulator: Description
    judge: Description
    reward: Description
    settings: Mapping[str, Any] = field(default_factory=dict)

    def identity(self) -> dict[str, Any]:
        """Return what two runs have to share before their records may be mixed or compared."""
        return {
            "kind": self.kind,
            "max_turns": self.max_turns,
            "user_simulator": self.user_simulator.identity(),
            "judge": self.judge.identity(),
            "reward": self.reward.identity(),
            "settings": dict(self.settings),
        }
