"""A judge by meaning of sentences: the scripted judge's reading with a sentence-transformers model inside."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from elicit_gym.errors import MissingExtraError, SettingError
from elicit_gym.judges.reading import verdicts_of
from elicit_gym.llm.weights import weights_sha256
from elicit_gym.parts import kind_of
from elicit_gym.types import Description, JudgeRequest, Verdict
from elicit_gym.understanding.acts import ScenarioReader
from elicit_gym.understanding.clauses import Clause
from elicit_gym.understanding.features import Encoder, Floats

__all__ = ["EmbeddingJudge", "load_sentence_transformer", "sentence_encoder"]


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
    """Load a sentence-transformers model once.

    Raises:
        MissingExtraError: the extra ``metrics`` is not installed.
        SettingError: there is no such model, or it brings code of its own, which is not run.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingExtraError("Embedding text", "metrics") from error
    try:
        return SentenceTransformer(model, device="cpu", trust_remote_code=False)
    except Exception as error:  # whatever is in a folder: half a dozen libraries read it
        raise SettingError(
            f"Loading the sentence model {model!r}: expected a hub id or a folder of sentence-transformers without "
            f"code of its own, got {type(error).__name__}: {str(error)[:200]!r}. Check the name."
        ) from error
