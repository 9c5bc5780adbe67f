"""Contrast sentences: one matter said in ways that a judge must tell apart, to test any judge on.

For asks and for advice: ``good`` meets the item; ``contrary`` is on the same object and goes against it (or takes the
answer for granted); ``negated`` names what would meet it in order not to do it; ``echo`` hands the user's own words
back. A judge that reads words credits them all. They were written by hand for scenarios of both splits, by somebody who
had not looked at any judge's reading of them; 24 more pairs are good advice that begins with what not to do, and
advice negated in other forms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from elicit_gym.errors import EpisodeFailure
from elicit_gym.judges.base import Judge, judge_all
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.strict_json import parse_json
from elicit_gym.types import ItemKind, JudgeRequest

__all__ = ["FORMS", "ContrastForm", "ContrastResult", "ContrastSentence", "contrast", "load_contrast_sentences"]

ContrastForm = Literal["good", "contrary", "negated", "echo"]
FORMS: tuple[ContrastForm, ...] = ("good", "contrary", "negated", "echo")


@dataclass(frozen=True, kw_only=True)
class ContrastSentence:
    """One sentence and the item that it is about.

    Attributes:
        request: what the judge gets: the item alone, with what it depends on disclosed.
        kind: of the item.
        form: only ``good`` should be credited.
    """

    request: JudgeRequest
    kind: ItemKind
    form: ContrastForm

    @property
    def should_be_credited(self) -> bool:
        """Whether the sentence meets the item."""
        return self.form == "good"


@dataclass(frozen=True, kw_only=True)
class ContrastResult:
    """How a judge did.

    Attributes:
        judge: its name.
        credited: for each kind of item and each form, how many sentences were credited.
        num: for each, how many there are.
        unscored: how many the judge could not score, failed calls included; they are not credited.
        wrong: those that were credited and should not have been, or the other way round, with the verdict (None for
            one that is unscored).
        failure: the first call that failed.
    """

    judge: str
    credited: dict[tuple[ItemKind, ContrastForm], int]
    num: dict[tuple[ItemKind, ContrastForm], int]
    unscored: int
    wrong: tuple[tuple[ContrastSentence, bool | None], ...]
    failure: EpisodeFailure | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the counts in JSON types, with the sentences that were judged wrongly."""
        kinds = list(dict.fromkeys(kind for kind, _ in self.num))
        return {
            kind: {
                form: {"sentences": self.num[kind, form], "credited": self.credited[kind, form]}
                for form in FORMS
                if (kind, form) in self.num
            }
            for kind in kinds
        } | {
            "unscored": self.unscored,
            "wrong": [
                {
                    "scenario_id": sentence.request.scenario.id,
                    "item": sentence.request.pending[0] + 1,
                    "form": sentence.form,
                    "message": sentence.request.assistant_message,
                    "verdict": verdict,
                }
                for sentence, verdict in self.wrong
            ],
        }


def load_contrast_sentences() -> tuple[ContrastSentence, ...]:
    """Load the sentences that come with the package."""
    scenarios = {scenario.id: scenario for scenario in load_scenarios()}
    text = (files("elicit_gym.evaluation") / "data" / "contrast_pairs.jsonl").read_text(encoding="utf-8")
    return tuple(
        ContrastSentence(
            request=JudgeRequest(
                scenario=scenarios[row["scenario_id"]],
                pending=(row["item"] - 1,),
                user_message=row["user_message"],
                assistant_message=row["message"],
                disclosed=frozenset(row["disclosed"]),
            ),
            kind=row["kind"],
            form=row["form"],
        )
        for row in map(parse_json, text.splitlines())
    )


def contrast(judge: Judge, sentences: Sequence[ContrastSentence] | None = None) -> ContrastResult:
    """Let a judge judge each sentence, in one batch where it can.

    Args:
        judge: any judge.
        sentences: those of the package by default.

    Raises:
        FatalModelError: no call to the judge's model can succeed.
    """
    told = load_contrast_sentences() if sentences is None else sentences
    answers = judge_all(judge, [sentence.request for sentence in told])
    credited: dict[tuple[ItemKind, ContrastForm], int] = {}
    num: dict[tuple[ItemKind, ContrastForm], int] = {}
    wrong: list[tuple[ContrastSentence, bool | None]] = []
    unscored, failure = 0, None
    for sentence, answer in zip(told, answers, strict=True):
        failed = isinstance(answer, EpisodeFailure)
        verdict = None if isinstance(answer, EpisodeFailure) else answer[0].satisfied
        failure = failure or (answer if isinstance(answer, EpisodeFailure) else None)
        key = (sentence.kind, sentence.form)
        num[key] = num.get(key, 0) + 1
        credited[key] = credited.get(key, 0) + bool(verdict)
        unscored += failed or verdict is None
        if verdict != sentence.should_be_credited:
            wrong.append((sentence, verdict))
    return ContrastResult(
        judge=judge.name, credited=credited, num=num, unscored=unscored, wrong=tuple(wrong), failure=failure
    )
