"""The paper's judge: a language model."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Literal

from elicit_gym.errors import EpisodeFailure, SettingError
from elicit_gym.judges.parse_verdict import parse_verdicts
from elicit_gym.llm.make import DEFAULT_MODEL, PAPER_JUDGE, make_chat_model
from elicit_gym.llm.prompts import load_prompt
from elicit_gym.llm.types import ChatModel, ChatRequest, ChatResponse
from elicit_gym.parts import describe_with_model
from elicit_gym.types import Description, JudgeRequest, Message, Scenario, Verdict

__all__ = ["LLMJudge", "hidden_context"]

_PACKAGE = "elicit_gym.judges"
_FIELDS = ("fence", "context", "user_message", "assistant_message")


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
    ``mode="checklist"`` one call answers all pending items. A reply without a clear verdict is asked for again; after
    that the item is unscored, with the reason and the raw reply: never a silent "no".

    The judged text stands between marks that are derived from the whole request by a hash, so that a message cannot
    know the mark that would close its fence; marks that occur in the text are stepped over.

    Args:
        model: a name for `elicit_gym.llm.make.make_chat_model`, a chat model, or ``paper`` for the paper's own.
        mode: ``item`` (one call per item, as in the paper) or ``checklist``.
        prompts: a folder with prompt files of your own (``judge_item.txt``, ``judge_checklist.txt``).
        max_attempts: the number of replies to ask for, the first included.
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
        **model_kwargs: Any,
    ) -> None:
        if mode not in ("item", "checklist"):
            raise SettingError(
                f"Making the judge 'llm': expected mode 'item' or 'checklist', got {mode!r}. Choose one."
            )
        settings = {"temperature": 0.0, **model_kwargs}
        name = PAPER_JUDGE if model == "paper" else model
        self.model: ChatModel = make_chat_model(name, **settings) if isinstance(name, str) else name
        self._mode = mode
        self._sampled = bool(settings["temperature"])
        if mode == "item":
            self._prompt = load_prompt(_PACKAGE, "judge_item", (*_FIELDS, "question"), prompts)
        else:
            self._prompt = load_prompt(_PACKAGE, "judge_checklist", (*_FIELDS, "questions"), prompts)
        self.prompts = (self._prompt,)
        self._max_attempts = max_attempts

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
        calls = [(r, items) for r, request in enumerate(requests) for items in self._split(request)]
        verdicts: dict[tuple[int, int], Verdict] = {}
        failures: dict[int, EpisodeFailure] = {}
        tried: list[list[ChatResponse]] = [[] for _ in calls]
        open_ = list(range(len(calls)))
        for attempt in range(self._max_attempts):
            chats = [self._chat(requests[calls[c][0]], calls[c][1], attempt) for c in open_]
            still_open = []
            for c, response in zip(open_, self.model.complete_batch(chats), strict=True):
                if isinstance(response, EpisodeFailure):
                    failures.setdefault(calls[c][0], response)
                    continue
                tried[c].append(response)
                last = attempt == self._max_attempts - 1
                if not self._settle(calls[c], tried[c], verdicts, last=last):
                    still_open.append(c)
            open_ = [c for c in still_open if calls[c][0] not in failures]
            if not open_:
                break
        return [
            failures[r] if r in failures else tuple(verdicts[(r, item)] for item in request.pending)
            for r, request in enumerate(requests)
        ]

    def chats(self, request: JudgeRequest) -> list[ChatRequest]:
        """Return what the model is asked for one request, at the first attempt."""
        return [self._chat(request, items, 0) for items in self._split(request)]

    def _split(self, request: JudgeRequest) -> list[tuple[int, ...]]:
        if self._mode == "checklist":
            return [request.pending] if request.pending else []
        return [(item,) for item in request.pending]

    def _chat(self, request: JudgeRequest, items: tuple[int, ...], attempt: int) -> ChatRequest:
        scenario = request.scenario
        questions = [scenario.checklist[item].question for item in items]
        context = hidden_context(scenario)
        text = self._prompt.fill(
            fence=_fence(context, request.user_message, request.assistant_message, *questions),
            context=context,
            user_message=request.user_message,
            assistant_message=request.assistant_message,
            question=questions[0],
            questions="\n".join(f"{i}. {question}" for i, question in enumerate(questions, 1)),
        )
        results = {"type": "array", "items": {"type": "string", "enum": ["Yes", "No"]}}
        schema = {
            "type": "object",
            "properties": {"reasoning": {"type": "string"}, "results": results},
            "required": ["reasoning", "results"],
            "additionalProperties": False,
        }
        return ChatRequest(
            messages=(Message(role="user", content=text),),
            # At temperature 0 the same question has one answer, whatever episode it is asked in.
            seed=request.seed + attempt if self._sampled else attempt,
            repeat=attempt,
            json_schema=schema if self._mode == "checklist" else None,
        )

    def _settle(
        self,
        call: tuple[int, tuple[int, ...]],
        tried: list[ChatResponse],
        verdicts: dict[tuple[int, int], Verdict],
        *,
        last: bool,
    ) -> bool:
        r, items = call
        response = tried[-1]
        answers, reason = parse_verdicts(response.text, len(items))
        if None in answers and not last:
            return False
        flags = tuple(f"judge:{flag}" for t in tried for flag in t.flags) + ("judge:retried:no_verdict",) * (
            len(tried) - 1
        )
        usage = tuple(t.usage("judge") for t in tried)
        for k, (item, answer) in enumerate(zip(items, answers, strict=True)):
            verdicts[(r, item)] = Verdict(
                satisfied=answer,
                reason=reason if answer is None else None,
                raw=response.text,
                flags=flags if k == 0 else (),
                usage=usage if k == 0 else (),
            )
        return True


def _fence(*texts: str) -> str:
    """Return a mark that occurs in none of the texts and that their writer cannot foresee."""
    digest = sha256("\x1f".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
    for start in range(0, 48, 4):
        mark = f"@{digest[start : start + 12]}@"
        if not any(mark in text for text in texts):
            return mark
    raise AssertionError("unreachable: a text that holds its own hash twelve times over")
