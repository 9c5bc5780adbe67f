"""The paper's judge: a language model."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from elicit_gym.errors import EpisodeFailure, SettingError
from elicit_gym.judges.parse_verdict import parse_verdicts
from elicit_gym.llm.content import quoted
from elicit_gym.llm.make import DEFAULT_MODEL, PAPER_JUDGE, make_chat_model
from elicit_gym.llm.prompts import load_prompt, mark_outside
from elicit_gym.llm.types import ChatModel, ChatRequest, ChatResponse
from elicit_gym.parts import describe_with_model
from elicit_gym.types import Description, JudgeRequest, Message, Scenario, Verdict

__all__ = ["LLMJudge", "hidden_context"]

_PACKAGE = "elicit_gym.judges"
_FIELDS = ("fence", "context", "user_message", "assistant_message")
MORE_ROOM = 4
"""How many times as many tokens a reply may have whose predecessor was cut off."""

_YES_OR_NO = {"type": "string", "enum": ["Yes", "No"]}


def _schema(result: str, kind: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"reasoning": {"type": "string"}, result: kind},
        "required": ["reasoning", result],
        "additionalProperties": False,
    }


_ITEM_SCHEMA = _schema("result", _YES_OR_NO)
_CHECKLIST_SCHEMA = _schema("results", {"type": "array", "items": _YES_OR_NO})


def hidden_context(scenario: Scenario) -> str:
    """Return the user's situation in the words that the judge reads: persona, description, goal and obstacle.

    References:
        InfoQuest, Section 3.1, "Verification Process", and the example in Appendix A.4.
    """
    return (
        f"They are {scenario.persona}. {scenario.description} Their goal: {scenario.goal}. "
        f"Obstacle: {scenario.obstacle}."
    )


class LLMJudge:
    """The judge of the paper, played by any model.

    Each pending item is one call, and all calls of a request (or of a batch of requests) go out at once; with
    ``mode="checklist"`` one call answers all pending items. A reply without a clear verdict is asked for again, and the
    model is told what was wrong with it; one that the length limit cut off gets more room. After that the item is
    unscored, with the reason and the raw replies: never a silent "no". Where the service can, the verdict is asked for
    as JSON of a given schema.

    Whatever others wrote, the scenario's questions included, stands between marks that are derived from the scenario by
    a hash; a mark that occurs in the text is never used, so that no message can close its fence. All prompts about a
    scenario therefore begin with the same words, which is what providers' prompt caches go by.

    Args:
        model: a name for `elicit_gym.llm.make.make_chat_model`, a chat model, or ``paper`` for the paper's own.
        mode: ``item`` (one call per item, as in the paper) or ``checklist``.
        prompts: a folder with prompt files of your own (``judge_item.txt``, ``judge_checklist.txt``,
            ``judge_retry.txt``).
        max_attempts: the number of replies to ask for, the first included.
        max_tokens: the largest number of tokens of a first reply; one that was cut off is asked for again with four
            times as many.
        keep_replies: whether verdicts carry the raw replies, which a run then keeps.
        model_kwargs: arguments of `make_chat_model`: ``api_base``, ``temperature`` (0 by default),
            ``structured_output``, ...

    Raises:
        SettingError: there is no such mode.

    References:
        InfoQuest, Section 3.1, 3.3 and Appendix A.4. Differences from it: fences, retries and our own wording.
    """

    name = "llm"

    def __init__(
        self,
        model: str | ChatModel = DEFAULT_MODEL,
        *,
        mode: Literal["item", "checklist"] = "item",
        prompts: str | None = None,
        max_attempts: int = 3,
        max_tokens: int = 2_048,
        keep_replies: bool = True,
        **model_kwargs: Any,
    ) -> None:
        if mode not in ("item", "checklist"):
            raise SettingError(
                f"Making the judge 'llm': expected mode 'item' or 'checklist', got {mode!r}. Choose one."
            )
        settings = {"temperature": 0.0, "max_tokens": max_tokens, **model_kwargs}
        name = PAPER_JUDGE if model == "paper" else model
        self.model: ChatModel = make_chat_model(name, **settings) if isinstance(name, str) else name
        self._mode = mode
        self._sampled = bool(settings["temperature"])
        if mode == "item":
            self._prompt = load_prompt(_PACKAGE, "judge_item", (*_FIELDS, "question"), prompts)
        else:
            self._prompt = load_prompt(_PACKAGE, "judge_checklist", (*_FIELDS, "questions"), prompts)
        self._retry = load_prompt(_PACKAGE, "judge_retry", ("problem", "form"), prompts)
        self.prompts = (self._prompt, self._retry)
        self._max_attempts = max_attempts
        self._max_tokens = max_tokens
        self._keep_replies = keep_replies

    def describe(self) -> Description:
        """Return what the verdicts depend on."""
        return describe_with_model(self, {"mode": self._mode, "max_attempts": self._max_attempts})

    def check(self) -> None:
        """Raise one clear sentence if the model cannot be called."""
        self.model.check()

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        """Return one verdict for each pending item."""
        (answer,) = self.judge_batch([request])
        if isinstance(answer, EpisodeFailure):
            raise answer
        return answer

    def judge_batch(self, requests: Sequence[JudgeRequest]) -> list[tuple[Verdict, ...] | EpisodeFailure]:
        """Return the verdicts of many requests, failures in their own places; all calls of a round go out at once."""
        calls = [_Call(r, request, items) for r, request in enumerate(requests) for items in self._split(request)]
        failures: dict[int, EpisodeFailure] = {}
        open_ = calls
        for _ in range(self._max_attempts):
            chats = [self._chat(call) for call in open_]
            for call, response in zip(open_, self.model.complete_batch(chats), strict=True):
                if isinstance(response, EpisodeFailure):
                    failures.setdefault(call.place, response)
                else:
                    call.take(response)
            open_ = [call for call in open_ if call.place not in failures and not call.settled]
            if not open_:
                break
        verdicts: dict[tuple[int, int], Verdict] = {}
        for call in calls:
            if call.place not in failures:
                verdicts |= {(call.place, item): verdict for item, verdict in call.verdicts(self._keep_replies)}
        return [
            failures[r] if r in failures else tuple(verdicts[(r, item)] for item in request.pending)
            for r, request in enumerate(requests)
        ]

    def chats(self, request: JudgeRequest) -> list[ChatRequest]:
        """Return what the model is asked for one request, at the first attempt."""
        return [self._chat(_Call(0, request, items)) for items in self._split(request)]

    def _split(self, request: JudgeRequest) -> list[tuple[int, ...]]:
        if self._mode == "checklist":
            return [request.pending] if request.pending else []
        return [(item,) for item in request.pending]

    def _chat(self, call: "_Call") -> ChatRequest:
        request = call.request
        # One line each: a question of several lines could look like several questions.
        questions = [" ".join(request.scenario.checklist[item].question.split()) for item in call.items]
        text = self._prompt.fill(
            fence=call.mark,
            context=hidden_context(request.scenario),
            user_message=request.user_message,
            assistant_message=request.assistant_message,
            question=questions[0],
            questions="\n".join(f"{i}. {question}" for i, question in enumerate(questions, 1)),
        )
        messages = [Message(role="user", content=text)]
        attempt = len(call.tried)
        room = None
        if attempt:
            last = call.tried[-1]
            note = self._retry.fill(problem=call.problem, form=_form(len(questions), call.mark))
            messages += [Message(role="assistant", content=quoted(last.text)), Message(role="user", content=note)]
            if call.num_cut_off:
                room = max(self._max_tokens * MORE_ROOM**call.num_cut_off, last.output_tokens * MORE_ROOM)
        return ChatRequest(
            messages=tuple(messages),
            # At temperature 0 the same question has one answer, whatever episode it is asked in.
            seed=request.seed + attempt if self._sampled else attempt,
            repeat=attempt,
            json_schema=_ITEM_SCHEMA if self._mode == "item" else _CHECKLIST_SCHEMA,
            max_tokens=room,
            more_room=MORE_ROOM,
        )


class _Call:
    """One question to the judge, about one item or several, and the replies to it.

    Args:
        place: of the request among those of a batch.
        request: what is judged.
        items: that the question is about.
    """

    def __init__(self, place: int, request: JudgeRequest, items: tuple[int, ...]) -> None:
        self.place, self.request, self.items = place, request, items
        self.tried: list[ChatResponse] = []
        self.answers: list[bool | None] = [None] * len(items)
        self.problem = ""
        self.num_cut_off = 0
        fixed = (hidden_context(request.scenario), *(item.question for item in request.scenario.checklist))
        foreign = (request.user_message, request.assistant_message)
        self.mark = mark_outside(fixed, foreign)
        self._material = "\n".join((*foreign, *fixed))

    @property
    def settled(self) -> bool:
        """Whether the last reply answered everything."""
        return bool(self.tried) and None not in self.answers

    def take(self, response: ChatResponse) -> None:
        """Read a reply."""
        cut_off = response.finish_reason == "length"
        self.answers, reason = parse_verdicts(
            response.text, len(self.items), self._material, mark=self.mark, truncated=cut_off
        )
        self.problem = reason or ""
        self.num_cut_off += cut_off
        self.tried.append(response)

    def verdicts(self, keep_replies: bool) -> Iterator[tuple[int, Verdict]]:
        """Yield each item with its verdict; the first one carries flags and usage."""
        *earlier, last = self.tried
        flags = [f"judge:{flag}" for response in self.tried for flag in response.flags]
        flags += [
            "judge:retried:cut_off" if r.finish_reason == "length" else "judge:retried:no_verdict" for r in earlier
        ]
        for k, (item, answer) in enumerate(zip(self.items, self.answers, strict=True)):
            yield (
                item,
                Verdict(
                    satisfied=answer,
                    reason=self.problem if answer is None else None,
                    raw=last.text if keep_replies else None,
                    earlier=tuple(response.text for response in earlier) if keep_replies else (),
                    flags=tuple(flags) if k == 0 else (),
                    usage=tuple(response.usage("judge") for response in self.tried) if k == 0 else (),
                ),
            )


def _form(num_items: int, mark: str) -> str:
    """Return the lines in which a verdict is asked for again: the mark makes them the judge's beyond doubt."""
    if num_items == 1:
        return f"Result {mark}: <Yes or No>"
    return "\n".join(f"Result {mark} {i}: <Yes or No>" for i in range(1, num_items + 1))
