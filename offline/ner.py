"""Entities found by spaCy, in batches and in several processes."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from elicit_gym.errors import MissingExtraError, SettingError

__all__ = ["BATCH", "read_entities"]

LEFT_OUT = frozenset({"CARDINAL"})
BATCH = 256
MANY = 2_000


@lru_cache(maxsize=2)
def _load(model: str) -> Any:
    try:
        import spacy
    except ImportError as error:
        raise MissingExtraError("Factual novelty", "yield") from error
    # Only what entities need is loaded: in spaCy's pipelines, the recogniser reads no tags, parses or lemmas.
    unneeded = ["tagger", "parser", "attribute_ruler", "lemmatizer", "morphologizer"]
    try:
        return spacy.load(model, exclude=unneeded)
    except OSError as error:
        raise SettingError(
            f"Loading the spaCy model {model!r}: expected an installed pipeline, got none. "
            f"Install it (pip install {model}), or name another."
        ) from error


def read_entities(model: str, texts: Sequence[str], num_processes: int) -> Iterator[list[str]]:
    """Yield the entities of each text, as sorted ``LABEL:lower-case text``, without those left out.

    Args:
        model: a spaCy pipeline.
        texts: valid Unicode, shape (n,).
        num_processes: the number of spaCy's processes; they are used for many texts only, since starting one takes
            seconds.

    Raises:
        MissingExtraError: the extra ``yield`` is not installed.
        SettingError: there is no such pipeline.
    """
    nlp = _load(model)
    processes = num_processes if len(texts) >= MANY else 1
    for doc in nlp.pipe(texts, batch_size=BATCH, n_process=processes):
        yield sorted({f"{e.label_}:{e.text.strip().lower()}" for e in doc.ents if e.label_ not in LEFT_OUT})
