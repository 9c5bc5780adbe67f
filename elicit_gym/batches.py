"""Many questions to one part: in one batch where the part can, and a failure is its own question's only."""

import warnings
from collections.abc import Callable, Sequence
from typing import TypeVar

from elicit_gym.errors import EpisodeFailure, FatalModelError, Seat, attributed, in_seat

__all__ = ["answer_all"]

Question = TypeVar("Question")
Answer = TypeVar("Answer")


def answer_all(
    questions: Sequence[Question],
    one: Callable[[Question], Answer],
    batch: Callable[[Sequence[Question]], Sequence[Answer | EpisodeFailure]] | None,
    *,
    source: Seat,
    doing: str,
) -> list[Answer | EpisodeFailure]:
    """Have one part answer many questions.

    Args:
        questions: any number.
        one: answers one; may raise.
        batch: answers several, with a failure in the place of its own question; None where the part cannot. A batch
            that raises, or has another length, is asked one by one, so that it shows whose failure it was.
        source: whose fault a failure is.
        doing: what is being done, for the failure's message.

    Returns:
        One answer for each question, in order; a failure, attributed, stands in the place of its own.

    Raises:
        FatalModelError: no call to a model can succeed.
    """
    with in_seat(source):
        answers = None if batch is None or len(questions) < 2 else _in_one_batch(questions, batch, doing)
        if answers is None:
            answers = []
            for question in questions:
                try:
                    answers.append(one(question))
                except FatalModelError as error:
                    error.seat = error.seat or source
                    raise
                except Exception as error:
                    answers.append(attributed(error, source, doing))
    for answer in answers:
        if isinstance(answer, EpisodeFailure):
            answer.seat = answer.seat or source
    return answers


def _in_one_batch(
    questions: Sequence[Question],
    batch: Callable[[Sequence[Question]], Sequence[Answer | EpisodeFailure]],
    doing: str,
) -> list[Answer | EpisodeFailure] | None:
    try:
        answers = list(batch(questions))
        for answer in answers:
            if isinstance(answer, FatalModelError):
                raise answer
        problem = "" if len(answers) == len(questions) else f"got {len(answers)}"
    except FatalModelError:
        raise
    except EpisodeFailure:
        return None
    except Exception as error:
        problem = f"got {type(error).__name__}: {error}"
    if not problem:
        return answers
    warnings.warn(
        f"{doing}: expected a batch to have {len(questions)} answers, {problem}. They are asked for one by one.",
        stacklevel=3,
    )
    return None
