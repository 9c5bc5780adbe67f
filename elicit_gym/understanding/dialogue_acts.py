"""What a message does, clause by clause: the one reading that user and judge share."""

from dataclasses import dataclass
from typing import Literal

from elicit_gym.types import FactId
from elicit_gym.understanding.clauses import WhWord
from elicit_gym.understanding.small_talk import Talk

__all__ = ["ActKind", "DialogueAct", "Understanding"]

ActKind = Literal["ask", "suggest", "small_talk", "more", "echo", "unclear"]

MAX_QUESTIONS_HEARD = 3
NUM_JUDGED_QUESTIONS = 2


@dataclass(frozen=True, slots=True)
class DialogueAct:
    """What one clause of a message does.

    Attributes:
        kind: ``ask``, ``suggest``, ``small_talk``, ``more`` (a wish to hear more of whatever was said), ``echo`` (the
            user's own words, a hint's or the opening's, handed back) or ``unclear`` (a list, no grammar, another
            language, too many matters at once).
        text: the clause.
        facts: what an *ask* goes for, with confidences, the surest first; empty where no fact answers it. An *echo*
            has the facts that the user may say more about, and so has *more*; neither earns anything.
        advice: indexes of the *advice* items that a *suggest* meets, with confidences.
        contrary: whether a *suggest* is on the object of an advice item but goes against what the user needs.
        wh: what kind of answer a question wants.
        talk: what kind of *small_talk*.
    """

    kind: ActKind
    text: str
    facts: tuple[tuple[FactId, float], ...] = ()
    advice: tuple[tuple[int, float], ...] = ()
    contrary: bool = False
    wh: WhWord | None = None
    talk: Talk | None = None


@dataclass(frozen=True, slots=True)
class Understanding:
    """What a message does, clause by clause, in order."""

    acts: tuple[DialogueAct, ...]
    num_words: int

    @property
    def questions(self) -> tuple[DialogueAct, ...]:
        """The clauses that want an answer, unclear and echoed ones among them."""
        return tuple([act for act in self.acts if act.wh is not None])

    @property
    def judged_questions(self) -> tuple[DialogueAct, ...]:
        """The questions that can earn something: the first two; of more than three, the first.

        Reference:
            The paper limits nothing here. Difference, since a user cannot listen to all of a list of questions.
        """
        questions = self.questions
        return questions[: NUM_JUDGED_QUESTIONS if len(questions) <= MAX_QUESTIONS_HEARD else 1]

    @property
    def asks(self) -> bool:
        """Whether the message really asks something, whatever the answer."""
        return any(act.kind == "ask" for act in self.acts)
