"""Merge neighbours of the same role into one turn, and keep the raw turns of each."""

from collections.abc import Sequence
from dataclasses import dataclass

from elicit_gym.offline.schema import Dialogue, DialogueRole, DialogueTurn

__all__ = ["MergedTurn", "merge_turns"]


@dataclass(frozen=True, kw_only=True, slots=True)
class MergedTurn:
    """A run of raw turns of one role.

    Attributes:
        text: the utterances, joined by spaces, where empty ones leave no trace; or as the released rows join them.
        raw: the positions of its first and last raw turn in the dialogue, shape (2,).
    """

    role: DialogueRole
    text: str
    turn_id: int
    raw: tuple[int, int]


def merge_turns(dialogue: Dialogue, *, published: bool = False) -> list[MergedTurn]:
    """Return the dialogue in strictly alternating roles.

    A raw turn whose utterance is empty belongs to its neighbour of the same role and adds no text; one that stands
    alone keeps its place with an empty text, so that roles still alternate.

    Args:
        dialogue: the raw dialogue.
        published: whether to join utterances by blank lines, the empty ones too, as the released rows do.
    """
    merged: list[MergedTurn] = []
    run: list[DialogueTurn] = []
    start = 0
    for position, turn in enumerate((*dialogue.turns, None)):
        if run and (turn is None or turn.role != run[0].role):
            merged.append(
                MergedTurn(
                    role=run[0].role,
                    text=_joined([turn.utterance.strip() for turn in run], published),
                    turn_id=run[0].turn_id,
                    raw=(start, position - 1),
                )
            )
            run = []
        if turn is not None:
            if not run:
                start = position
            run.append(turn)
    return merged


def _joined(utterances: Sequence[str], published: bool) -> str:
    return "\n\n".join(utterances) if published else " ".join(filter(None, utterances))
