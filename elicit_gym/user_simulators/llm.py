"""The paper's user simulator: a language model."""

import re
from collections.abc import Sequence
from typing import Any

from elicit_gym.errors import EpisodeFailure, UserSimulatorFailure
from elicit_gym.llm.content import quoted
from elicit_gym.llm.make import DEFAULT_MODEL, PAPER_USER, make_chat_model
from elicit_gym.llm.prompts import load_prompt, mark_outside
from elicit_gym.llm.types import ChatModel, ChatRequest, ChatResponse
from elicit_gym.parts import describe_with_model
from elicit_gym.types import Description, Message, UserReply, UserTurn
from elicit_gym.user_simulators.checks import BEARABLE, PROBLEMS, Problem, mend_reply, problem_of_reply, strip_label

__all__ = ["LLMUserSimulator", "of_the_user"]

_PACKAGE = "elicit_gym.user_simulators"
_SYSTEM_FIELDS = (
    "persona", "traits", "goal", "description", "obstacle", "constraints", "checklist", "mark", "opening_message",
)  # fmt: skip


_USER = re.compile(r"\bthe user(['’]s)?(?=\W)", re.IGNORECASE)
_ASSISTANT = re.compile(r"\bthe (?:assistant|agent|AI|chatbot|model)\b", re.IGNORECASE)


class LLMUserSimulator:
    """The user of the paper, played by any model.

    The model sees the game from its own side: its system prompt holds the persona and the rules, the agent's messages
    come in the role ``user``, its own former replies in the role ``assistant``. What no user would say (see
    `elicit_gym.user_simulators.checks`: an empty reply, one that speaks as the helper or in another language, leaks
    rules, state or checklist, copies, runs on, is no plain speech, gives away several facts or one that was not asked
    for) is asked for again; after that, the reply is cut to its first sound sentence, which is checked in its turn; if
    there is none, a reply whose fault is bearable is kept, and otherwise the episode fails. All of this is counted in
    the reply's flags.

    Args:
        model: a name for `elicit_gym.llm.make.make_chat_model`, a chat model, or ``paper`` for the paper's own.
        prompts: a folder with prompt files of your own (``user_system.txt``, ``user_progress.txt``,
            ``user_retry.txt``).
        max_attempts: the number of replies to ask for, the first included.
        model_kwargs: arguments of `make_chat_model`: ``api_base``, ``temperature``, ``max_tokens``, ...

    References:
        InfoQuest, Section 3.1 and Appendix A.5; Section 3.3 for the model. Differences from it: the state
        of the game stands in the agent's latest message only, between marks that the agent cannot forge; replies are
        checked; the wording is ours.
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
        self._progress = load_prompt(_PACKAGE, "user_progress", ("mark", "progress", "stuck", "next_item"), prompts)
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
        checklist = [of_the_user(item.question) for item in scenario.checklist]
        mark = mark_outside([scenario.id, scenario.description, *checklist], [m.content for m in turn.history])
        system = self._system.fill(
            persona=scenario.persona,
            traits="; ".join(scenario.traits),
            goal=scenario.goal,
            description=scenario.description,
            obstacle=scenario.obstacle,
            constraints=", ".join(scenario.constraints),
            checklist="\n".join(f"- {question}" for question in checklist),
            mark=mark,
            opening_message=scenario.opening_message,
        )
        answers = zip(checklist, turn.satisfied, strict=True)
        progress = self._progress.fill(
            mark=mark,
            progress="\n".join(f"- {question} {'Yes' if done else 'No'}" for question, done in answers),
            stuck="stuck" if turn.stuck else "not stuck",
            next_item=checklist[turn.satisfied.index(False)],
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
        tried: dict[int, list[tuple[ChatResponse, str, Problem | None]]] = {i: [] for i in asked}
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
                tried[i].append((response, text, problem))
                if problem is None:
                    done[i] = _reply_of(text, tried[i], ())
                else:
                    note = Message(role="user", content=self._retry.fill(problem=PROBLEMS[problem]))
                    asked[i] = (
                        *self.messages(turns[i]),
                        Message(role="assistant", content=quoted(response.text)),
                        note,
                    )
        for i in asked:
            if i not in done:
                done[i] = _last_resort(turns[i], tried[i])
        return [done[i] for i in range(len(turns))]


def of_the_user(question: str) -> str:
    """Name the parties of a checklist question as the simulator's prompt does: "the user" helps, the model is "you".

    References:
        InfoQuest, Appendix A.5, where the checklist asks "Did the user ...".
    """
    question = _USER.sub(lambda found: "your" if found[1] else "you", question)
    return _ASSISTANT.sub("the user", question)


def _reply_of(text: str, tried: list[tuple[ChatResponse, str, Problem | None]], flags: tuple[str, ...]) -> UserReply:
    retried = tuple(f"user_simulator:retried:{problem}" for _, _, problem in tried if problem)
    of_model = tuple(f"user_simulator:{flag}" for response, _, _ in tried for flag in response.flags)
    return UserReply(
        text=text,
        flags=(*of_model, *retried, *flags),
        usage=tuple(response.usage("user_simulator") for response, _, _ in tried),
    )


def _last_resort(turn: UserTurn, tried: list[tuple[ChatResponse, str, Problem | None]]) -> UserReply | EpisodeFailure:
    for _, text, problem in tried:
        mended = mend_reply(text, turn)
        if mended is not None:
            return _reply_of(mended, tried, (f"user_simulator:mended:{problem}",))
    for _, text, problem in tried:
        if problem in BEARABLE:
            return _reply_of(text, tried, (f"user_simulator:kept:{problem}",))
    _, text, problem = tried[-1]
    assert problem is not None  # a sound reply would have been taken
    return UserSimulatorFailure(
        f"Replying as the user: expected one short sentence in the user's role, got {text[:120]!r} "
        f"({PROBLEMS[problem]}) in {len(tried)} attempts. Try a stronger model for the user."
    )
