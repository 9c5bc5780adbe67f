"""Any chat model as a policy."""

from collections.abc import Sequence
from typing import Any, Literal

from elicit_gym.agents.system_prompt import load_system_prompt, with_system_prompt
from elicit_gym.errors import EpisodeFailure
from elicit_gym.llm.make import make_chat_model
from elicit_gym.llm.types import ChatModel, ChatRequest, ChatResponse
from elicit_gym.parts import describe_with_model
from elicit_gym.types import ChatHistory, Description, Usage

__all__ = ["LLMPolicy"]


class LLMPolicy:
    """A language model answers the user, with a system prompt.

    Args:
        model: a name for `elicit_gym.llm.make.make_chat_model`, or a chat model.
        system_prompt: ``plain`` (as in the paper's zero-shot runs), ``clarify`` (one question at a time), ``elicitor``
            (YIELD's interviewer), or a path.
        prompts: a folder with prompt files of your own.
        name: the policy's name in reports; by default the model's, with the prompt's unless that is ``plain``.
        model_kwargs: arguments of `make_chat_model`.

    Raises:
        SettingError: there is no such prompt.

    References:
        InfoQuest, Section 4: all models are evaluated zero-shot.
    """

    network_bound: Literal[True] = True

    def __init__(
        self,
        model: str | ChatModel,
        *,
        system_prompt: str = "plain",
        prompts: str | None = None,
        name: str | None = None,
        **model_kwargs: Any,
    ) -> None:
        self.model: ChatModel = make_chat_model(model, **model_kwargs) if isinstance(model, str) else model
        self._prompt = load_system_prompt(system_prompt, prompts)
        self.prompts = (self._prompt,)
        suffix = "" if system_prompt == "plain" else f" ({self._prompt.name})"
        self.name = name or f"{self.model.name}{suffix}"
        self._seed = 0
        self._usage: list[Usage] = []
        self._flags: list[str] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> "LLMPolicy":
        # Workers share the model, with its connections and a test double's script; each has its own episode only.
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._usage, twin._flags = [], []
        return twin

    def describe(self) -> Description:
        """Return what the answers depend on."""
        return describe_with_model(self, {})

    def check(self) -> None:
        """Raise one clear sentence if the model cannot be called."""
        self.model.check()

    def reset(self, seed: int) -> None:
        """Start a new episode."""
        self._seed = seed
        self._usage.clear()
        self._flags.clear()

    def _request(self, history: ChatHistory, seed: int) -> ChatRequest:
        return ChatRequest(messages=with_system_prompt(history, self._prompt.text.strip()), seed=seed + len(history))

    def act(self, history: ChatHistory) -> str:
        """Return the model's answer."""
        return self._take(self.model.complete(self._request(history, self._seed)))

    def act_batch(self, histories: Sequence[ChatHistory]) -> list[str]:
        """Return the model's answers to many histories; all calls go out at once.

        Raises:
            EpisodeFailure: a call failed; the first such failure is raised.
        """
        responses = self.model.complete_batch([self._request(history, self._seed) for history in histories])
        texts = []
        for response in responses:
            if isinstance(response, EpisodeFailure):
                raise response
            texts.append(self._take(response))
        return texts

    def _take(self, response: ChatResponse) -> str:
        self._usage.append(response.usage("policy"))
        self._flags.extend(f"policy:{flag}" for flag in response.flags)
        return response.text

    def take_usage(self) -> tuple[tuple[Usage, ...], tuple[str, ...]]:
        """Return what was spent since the last call of this method, and the flags of the answers."""
        taken = (tuple(self._usage), tuple(self._flags))
        self._usage.clear()
        self._flags.clear()
        return taken
