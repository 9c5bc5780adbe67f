"""The five scales, and what the paper's raters gave."""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["PAPER_TABLE_9", "SCALES", "Scale"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Scale:
    """A five-point scale.

    Attributes:
        key: the scale's name in files.
        short: the head of its column in the paper's table.
        name: the scale's name for the rater.
        question: the question for the rater.
        low, middle, high: what 1, 3 and 5 mean.
    """

    key: str
    short: str
    name: str
    question: str
    low: str
    middle: str
    high: str


SCALES = (
    Scale(
        key="progression", short="P", name="Progression", question="Does it take the conversation further?",
        low="repeats, or leaves the topic", middle="keeps the talk going", high="takes it a clear step further",
    ),
    Scale(
        key="control", short="CC", name="Conversational control", question="Does it steer the conversation?",
        low="only follows", middle="steers a little", high="clearly sets the direction",
    ),
    Scale(
        key="relevance", short="OR", name="Outcome relevance",
        question="Does it serve what this kind of interview is for?",
        low="has nothing to do with it", middle="serves it in part", high="goes straight for it",
    ),
    Scale(
        key="probing", short="PE", name="Probing effectiveness", question="Does it press for more depth?",
        low="does not probe", middle="asks for some detail", high="probes hard and to the point",
    ),
    Scale(
        key="conformity", short="C", name="Conformity",
        question="Does it sound like the interviewer in this kind of interview?",
        low="out of character", middle="passable", high="exactly in character",
    ),
)  # fmt: skip
"""YIELD, Section 6.6 and Appendix A.6; the wording is ours."""

PAPER_TABLE_9: Mapping[str, tuple[float, ...]] = {
    "Real": (3.89, 3.75, 3.92, 3.71, 3.97),
    "Prompted": (4.25, 4.07, 4.25, 4.17, 4.20),
    "SFT": (3.65, 3.64, 4.01, 3.57, 3.96),
    "ORL": (3.70, 3.67, 3.89, 3.45, 3.99),
}
"""The paper's means, in the order of `SCALES`."""
