"""The hash of a local model's weights: what tells a retrained model from the one of the same name before it."""

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import file_digest, sha256
from pathlib import Path

__all__ = ["weights_sha256"]

_OF_THE_HUB = re.compile(r"[0-9a-f]{64}")


@lru_cache(maxsize=512)
def _file_sha256(path: Path, modified: int, size: int) -> str:
    """Hash a file; one of the same time and size is not read again."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _hash(path: Path) -> str:
    real = path.resolve()
    if _OF_THE_HUB.fullmatch(real.name):
        return real.name  # the hub's cache calls a large file by its sha256
    stamp = real.stat()
    return _file_sha256(real, stamp.st_mtime_ns, stamp.st_size)


def _folder_of(model: str) -> Path | None:
    """Return where a model's files lie: a folder, or the hub's snapshot on this disk; the network is not asked."""
    if Path(model).is_dir():
        return Path(model)
    try:
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(model, local_files_only=True, allow_patterns=["*.safetensors"]))
    except Exception:  # not installed, no such id, or not on this disk: nothing can be said of the weights
        return None


def weights_sha256(models: Sequence[str | Path]) -> str | None:
    """Return one hash over the weights of a model and whatever lies on top of it.

    Args:
        models: folders or hub ids, the base model first and an adapter after it. Where they lie does not count.

    Returns:
        None where there are no weights on this disk to be hashed.
    """
    digest = sha256()
    for model in models:
        folder = _folder_of(str(model))
        files = sorted(folder.glob("*.safetensors")) if folder is not None else []
        if not files:
            return None
        for path in files:
            digest.update(f"{path.name} {_hash(path)}\n".encode("utf-8", "surrogatepass"))
        digest.update(b"\n")
    return digest.hexdigest()
