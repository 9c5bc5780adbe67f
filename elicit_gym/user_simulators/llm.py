"""The paper's user simulator: a language model."""

from collections.abc import Sequence
from typing import Any

from elicit_gym.errors import EpisodeFailure, UserSimulatorFailure
from elicit_gym.llm.make import DEFAULT_MODEL, PAPER_USER, make_chat_model
from elicit_gym.llm.prompts import load_prompt
from elicit_gym.llm.types import ChatModel, ChatRequest, ChatResponse
from elicit_gym.parts import describe_with_model
from elicit_gym.types import Description, Message, UserReply, UserTurn
from elicit_gym.user_simulators.checks import PROBLEMS, mend_reply, problem_of_reply, strip_label

__all__ = ["LLMUserSimulator"]

_PACKAGE = "elicit_gym.user_simulators"
_SYSTEM_FIELDS = (
    "persona", "traits", "goal", "description", "obstacle", "constraints", "checklist", "opening_message",
)  # fmt: skip


class LLMUserSimulator:
    """The user of the paper, played by any model.

    The model sees the game from its own side: its system prompt holds the persona and the rules, the agent's messages
    come in the role ``user``, its own former replies in the role ``assistant``. A reply that is empty, speaks as the
    helper, leaks the rules, runs on, or gives away several facts is asked for again; after that, it is cut to its first
    sound sentence; if there is none, the episode fails. All of this is counted in the reply's flags.

    Args:
        model: a name for `elicit_gym.llm.make.make_chat_model`, a chat model, or ``paper`` for the paper's own.
        prompts: a folder with prompt files of your own (``user_system.txt``, ``user_progress.txt``,
            ``user_retry.txt``).
        max_attempts: the number of replies to ask for, the first included.
        model_kwargs: arguments of `make_chat_model`: ``api_base``, ``temperature``, ``max_tokens``, ...

    References:
        InfoQuest, Section 3.1 and Appendix A.5; Section 3.3 for the model. Differences from it: the state
        of the game stands in the agent's latest message only; replies are checked; the wording is ours.
    """

    name = "llm"

    def __init__(
        self,
        model: str | ChatModel = DEFAULT_MODEL,
        *,
        prompts: str | None = None,
        max_attempts: int = 3,
        **model_kwargs: Any,
    ) -> None:
        name = PAPER_USER if model == "paper" else model
        self.model: ChatModel = make_chat_model(name, **model_kwargs) if isinstance(name, str) else name
        self._system = load_prompt(_PACKAGE, "user_system", _SYSTEM_FIELDS, prompts)
        self._progress = load_prompt(_PACKAGE, "user_progress", ("progress", "stuck", "next_item"), prompts)
        self._retry = load_prompt(_PACKAGE, "user_retry", ("problem",), prompts)
        self.prompts = (self._system, self._progress, self._retry)
        self._max_attempts = max_attempts

    def describe(self) -> Description:
        """Return what the replies depend on."""
        return describe_with_model(self, {"max_attempts": self._max_attempts})

    def check(self) -> None:
        """Raise one clear sentence if the model cannot be called."""
        self.model.check()

    def messages(self, turn: UserTurn) -> tuple[Message, ...]:
        """Return what the model is sent for a turn."""
        scenario = turn.scenario
        system = self._system.fill(
            persona=scenario.persona,
            traits="; ".join(scenario.traits),
            goal=scenario.goal,
            description=scenario.description,
            obstacle=scenario.obstacle,
            constraints=", ".join(scenario.constraints),
            checklist="\n".join(f"- {item.question}" for item in scenario.checklist),
            opening_message=scenario.opening_message,
        )
        answers = zip(scenario.checklist, turn.satisfied, strict=True)
        progress = self._progress.fill(
            progress="\n".join(f"- {item.question} {'Yes' if done else 'No'}" for item, done in answers),
            stuck="stuck" if turn.stuck else "not stuck",
            next_item=scenario.checklist[turn.satisfied.index(False)].question,
        )
        flipped = [
            Message(role="user" if message.role == "assistant" else "assistant", content=message.content)
            for message in turn.history[1:]  # the opening message stands in the system prompt
        ]
        flipped[-1] = Message(role="user", content=f"{flipped[-1].content}\n\n{progress}")
        return (Message(role="system", content=system), *flipped)

    def reply(self, turn: UserTurn) -> UserReply:
        """Return the model's reply, checked."""
        (answer,) = self.reply_batch([turn])
        if isinstance(answer, EpisodeFailure):
            raise answer
        return answer

    def reply_batch(self, turns: Sequence[UserTurn]) -> list[UserReply | EpisodeFailure]:
        """Return the replies of many turns, failures in their own places; all calls of a round go out at once."""
        done: dict[int, UserReply | EpisodeFailure] = {}
        asked = {i: self.messages(turn) for i, turn in enumerate(turns)}
        tried: dict[int, list[tuple[ChatResponse, str, str]]] = {i: [] for i in asked}
        for attempt in range(self._max_attempts):
            open_ = [i for i in asked if i not in done]
            requests = [
                ChatRequest(messages=asked[i], seed=turns[i].seed + turns[i].turn, repeat=attempt) for i in open_
            ]
            for i, response in zip(open_, self.model.complete_batch(requests), strict=True):
                if isinstance(response, EpisodeFailure):
                    done[i] = response
                    continue
                text = strip_label(response.text)
                problem = problem_of_reply(text, turns[i])
                tried[i].append((response, text, problem or ""))
                if problem is None:
                    done[i] = _reply_of(text, tried[i], ())
                else:
                    note = Message(role="user", content=self._retry.fill(problem=PROBLEMS[problem]))
                    asked[i] = (*self.messages(turns[i]), Message(role="assistant", content=response.text), note)
        for i in asked:
            if i not in done:
                done[i] = _last_resort(turns[i], tried[i])
        return [done[i] for i in range(len(turns))]


def _reply_of(text: str, tried: list[tuple[ChatResponse, str, str]], flags: tuple[str, ...]) -> UserReply:
    retried = tuple(f"user_simulator:retried:{problem}" for _, _, problem in tried if problem)
    of_model = tuple(f"user_simulator:{flag}" for response, _, _ in tried for flag in response.flags)
    return UserReply(
        text=text,
        flags=(*of_model, *retried, *flags),
        usage=tuple(response.usage("user_simulator") for response, _, _ in tried),
    )


def _last_resort(turn: UserTurn, tried: list[tuple[ChatResponse, str, str]]) -> UserReply | EpisodeFailure:
    for _, text, problem in tried:
        mended = mend_reply(text, turn)
        if mended is not None:
            return _reply_of(mended, tried, (f"user_simulator:mended:{problem}",))
    _, text, problem = tried[-1]
    return UserSimulatorFailure(
        f"Replying as the user: expected one short sentence in the user's role, got {text[:120]!r} "
        f"({PROBLEMS[problem]}) in {len(tried)} attempts. Try a stronger model for the user."
    )
