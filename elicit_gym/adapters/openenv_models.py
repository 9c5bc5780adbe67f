"""What an OpenEnv client and server say to each other about InfoQuest."""

from openenv.core.env_server.types import Action, Observation

__all__ = ["Heard", "Say"]


class Say(Action):
    """The agent's utterance.

    Attributes:
        message: what the agent says; it must not be blank.
    """

    message: str


class Heard(Observation):
    """The chat so far, without anything of the hidden context or the checklist.

    Attributes:
        messages: role and content of each, oldest first.
        terminated: every checklist item is satisfied, or the user has left.
        truncated: the last turn was made, and neither is the case.
        left: the user has left.
    """

    messages: list[dict[str, str]]
    terminated: bool = False
    truncated: bool = False
    left: bool = False
