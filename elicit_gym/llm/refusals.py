"""What a failed call says of the next one: whether to try again, to fail alone, or to call no more."""

import re
from collections import defaultdict
from threading import Lock
from typing import Literal

from elicit_gym.errors import FatalModelError

__all__ = ["CircuitBreaker", "FailureKind", "failure_kind"]

FailureKind = Literal["passing", "request", "refused", "hopeless"]
"""``passing``: trying again can help (429, 5xx, timeout, dropped connection, an unusable answer). ``request``: the
request itself is at fault (a content filter, too long a conversation), and no other. ``refused``: refused for a reason
that others may share (400, 422). ``hopeless``: key, model, quota or address are wrong (401, 402, 403, 404)."""

STREAK: dict[FailureKind, int] = {"hopeless": 3, "refused": 12, "passing": 24}
"""Calls that have to fail alike, with none answered between them, before no more are made. A judge asks five questions
of one message: two messages that a service refuses for reasons of its own are not yet a streak."""

_OF_THIS_REQUEST = re.compile(
    r"content[\s_-]*(?:filter|policy|management|moderation|exists risk|violat)|moderation|flagged"
    r"|usage (?:polic|guidel)|responsible\s?ai|data_inspection_failed|inappropriate|guardrail"
    r"|prohibited[_ ]content|\bsafety\b"
    r"|context[_ ](?:length|window)|maximum (?:context|number of tokens)|too (?:long|many tokens)|tokens? exceed"
    r"|request too large",
    re.IGNORECASE,
)
_OF_THE_ACCOUNT = re.compile(
    r"insufficient[_ ](?:quota|balance|credits?|funds)|credit balance|billing[_ ](?:hard[_ ])?limit|payment required"
    r"|api[ _]key (?:not valid|invalid|expired|not found)|api_key_invalid|invalid[_ ]api[_ ]key|incorrect api key"
    r"|model[_ ]not[_ ]found|no such model|model\b.{0,120}(?:does not exist|is not (?:a )?valid|not found)",
    re.IGNORECASE | re.DOTALL,
)
_CHANGING = re.compile(r"[0-9a-f]*\d[0-9a-f]*|'[^']*'|\"[^\"]*\"", re.IGNORECASE)


def failure_kind(status: int | None, text: str) -> FailureKind:
    """Return what a failure says of other calls.

    Args:
        status: of the answer; None where there was none.
        text: what the service said, its error codes included.
    """
    if status is None or (status >= 500 and status != 501):
        return "passing"
    if status in (408, 409, 425, 429):
        if re.search("request too large", text, re.IGNORECASE):  # for the tokens per minute that an account has
            return "request"
        # Gemini words a limit per minute like an empty account, but says when to try again.
        spent = "exceeded your current quota" in text and "retry" not in text.lower()
        return "hopeless" if spent or _OF_THE_ACCOUNT.search(text) else "passing"
    if status == 413 or _OF_THIS_REQUEST.search(text):
        return "request"
    if status in (401, 402, 403, 404, 405) or _OF_THE_ACCOUNT.search(text):
        return "hopeless"
    return "refused"


class CircuitBreaker:
    """Ends a run in which calls to a model fail alike one after the other; safe from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._streaks: dict[str, tuple[str, int]] = defaultdict(lambda: ("", 0))
        self._open: dict[str, str] = {}

    def check(self, model: str) -> None:
        """Refuse a call to a model that no call succeeds with.

        Args:
            model: its name and server.

        Raises:
            FatalModelError: the last calls failed alike.
        """
        message = self._open.get(model)
        if message is not None:
            raise FatalModelError(message)

    def answered(self, model: str) -> None:
        """Note that a call was answered, which ends a streak."""
        if model in self._streaks:
            with self._lock:
                self._streaks.pop(model, None)

    def failed(self, model: str, kind: FailureKind, message: str) -> None:
        """Note that a call failed for good; the one that makes the streak long enough opens the breaker."""
        if kind == "request":
            return
        sign = f"{kind} {_CHANGING.sub('', message)[:160]}"
        with self._lock:
            last, count = self._streaks[model]
            count = count + 1 if sign == last else 1
            self._streaks[model] = (sign, count)
            if count >= STREAK[kind] and model not in self._open:
                self._open[model] = f"{message} {count} calls in a row failed like this: no more are made."
