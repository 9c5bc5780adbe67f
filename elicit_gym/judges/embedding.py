"""A judge by meaning of words: cosine similarity between sentences, without a language model that writes."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elicit_gym.errors import MissingExtraError
from elicit_gym.llm.weights import weights_sha256
from elicit_gym.parts import kind_of
from elicit_gym.scenarios.cues import compile_scenario
from elicit_gym.text import analyse, is_echo, questions_in
from elicit_gym.types import ChecklistItem, Description, JudgeRequest, Scenario, Verdict

__all__ = ["EmbeddingJudge", "load_sentence_transformer"]

ASK_THRESHOLD = 0.24
ADVICE_THRESHOLD = 0.3
"""Chosen on the train split by `benchmarks/judge_agreement.py`, which reports the kappa on the test split beside it."""


class EmbeddingJudge:
    """Credits an item when the message's first question (its nearest sentence, for an *advice*) is close in meaning.

    The guards of the scripted judge hold here too: one question, no echo, advice only on a disclosed fact. Of several
    *ask* items above the threshold the nearest counts.

    Args:
        model: a sentence-transformers model, by hub id or folder; the paper of YIELD uses ``all-MiniLM-L12-v2``.
        ask_threshold: least cosine similarity for an *ask* item.
        advice_threshold: likewise for an *advice* item.
    """

    name = "embedding"

    def __init__(
        self,
        model: str = "sentence-transformers/all-MiniLM-L6-v2",
        *,
        ask_threshold: float = ASK_THRESHOLD,
        advice_threshold: float = ADVICE_THRESHOLD,
    ) -> None:
        self._model_id = model
        self._encoder = load_sentence_transformer(model)
        self._thresholds = {"ask": ask_threshold, "advice": advice_threshold}
        self._item_vectors: dict[tuple[str, str], NDArray[np.float32]] = {}

    def describe(self) -> Description:
        """Return what the verdicts depend on."""
        return Description(
            name=self.name,
            kind=kind_of(self),
            model=self._model_id,
            weights_sha256=weights_sha256([self._model_id]),
            settings={f"{kind}_threshold": value for kind, value in self._thresholds.items()},
        )

    def similarities(self, request: JudgeRequest) -> NDArray[np.float64]:
        """Return the cosine similarity of each checklist item to the part of the message that it is judged by.

        Returns:
            Shape (5,).
        """
        scenario = request.scenario
        items = np.stack([self._vector_of(scenario, item) for item in scenario.checklist])
        asked = questions_in(request.assistant_message)[:1]
        sentences = [s.strip() for s in request.assistant_message.replace("\n", ". ").split(". ") if s.strip()][:40]
        vectors = self._encode([*asked, *sentences])
        scores = vectors @ items.T
        return np.array(
            [
                (scores[0, i] if asked else -1.0) if item.kind == "ask" else scores[len(asked) :, i].max(initial=-1.0)
                for i, item in enumerate(scenario.checklist)
            ],
            dtype=np.float64,
        )

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        """Return one verdict for each pending item; never unscored."""
        scenario, analysis = request.scenario, analyse(request.assistant_message)
        no = Verdict(satisfied=False)
        if is_echo(analysis.words, request.user_message) or is_echo(analysis.words, scenario.opening_message):
            return (no,) * len(request.pending)
        scores = self.similarities(request)
        kinds = compile_scenario(scenario).kinds
        asks = [i for i, kind in enumerate(kinds) if kind == "ask" and scores[i] >= self._thresholds["ask"]]
        nearest = max(asks, key=lambda i: scores[i]) if asks and analysis.specific else None
        verdicts = []
        for i in request.pending:
            if kinds[i] == "ask":
                met = i == nearest
            else:
                met = (
                    scenario.checklist[i].fact in request.disclosed
                    and not analysis.too_long
                    and scores[i] >= self._thresholds["advice"]
                )
            verdicts.append(Verdict(satisfied=bool(met), reason=f"cosine similarity {scores[i]:.3f}"))
        return tuple(verdicts)

    def _vector_of(self, scenario: Scenario, item: ChecklistItem) -> NDArray[np.float32]:
        key = (scenario.id, item.question)
        if key not in self._item_vectors:
            wanted = (
                f"{item.topic}. {scenario.fact(item.fact).statement}. {item.question.replace('Did the assistant ', '')}"
            )
            self._item_vectors[key] = self._encode([wanted])[0]
        return self._item_vectors[key]

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        vectors: NDArray[np.float32] = self._encoder.encode(clean, normalize_embeddings=True, show_progress_bar=False)
        return vectors


@lru_cache(maxsize=4)
def load_sentence_transformer(model: str) -> Any:
    """Load a sentence-transformers model once.

    Raises:
        MissingExtraError: the extra ``metrics`` is not installed.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingExtraError("Embedding text", "metrics") from error
    return SentenceTransformer(model, device="cpu", trust_remote_code=False)
