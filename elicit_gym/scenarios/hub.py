"""The published InfoQuest files from the Hugging Face hub, or from a local copy of them."""

import os
import warnings
from hashlib import sha256
from pathlib import Path

from elicit_gym.errors import MissingExtraError, ScenarioError

__all__ = ["DATA_VARIABLE", "published_folder"]

REPOSITORY = "bryanlincoln/infoquest"
REVISION = "1f54a770a8bed73edcab86411254fff64ed53d25"
SHA256 = {
    "seed_messages.jsonl": "13ce547f56a5a6c80afb1327cc3ed099a4624ce841b1fc6f913f63db4b29692d",
    "settings.jsonl": "f8b1a8a0e692ce9877bb216794b6c8574a04794770a4c0b924f91dfddcbc08bb",
    "traits.jsonl": "628553f157166d1e0c53dfb374d629c704f9cfb93db23c7f9cd2f3ab3b8503c8",
}
DATA_VARIABLE = "ELICIT_GYM_DATA"


def published_folder() -> Path:
    """Return a folder with the published files: ``$ELICIT_GYM_DATA/infoquest`` where it exists, else the hub's cache.

    The hub's viewer fails on this data set, so the raw files are fetched, at a pinned revision. A file whose hash is
    not the one on record is used all the same, with a warning that names both: the hashes come from a third party.

    Raises:
        MissingExtraError: huggingface_hub is not installed.
        ScenarioError: the hub cannot be reached.
    """
    local = os.environ.get(DATA_VARIABLE)
    for folder in (Path(local) / "infoquest", Path(local)) if local else ():
        if (folder / "settings.jsonl").is_file():
            return folder
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingExtraError("Downloading the published InfoQuest scenarios", "llm") from error
    try:
        folder = Path(
            snapshot_download(
                REPOSITORY, repo_type="dataset", revision=REVISION, allow_patterns=[f"*{name}" for name in SHA256]
            )
        )
    except Exception as error:  # the hub's client raises errors of half a dozen libraries
        raise ScenarioError(
            [
                f"Downloading {REPOSITORY} from the Hugging Face hub: expected the files of revision {REVISION[:12]}, "
                f"got {type(error).__name__}. Check the network, or put the files into a folder and set "
                f"${DATA_VARIABLE} to it."
            ]
        ) from error
    found = {path.name: path for path in folder.rglob("*.jsonl")}
    for name, expected in SHA256.items():
        if name in found:
            check_sha256(found[name], expected)
    return found["settings.jsonl"].parent if "settings.jsonl" in found else folder


def check_sha256(path: Path, expected: str) -> bool:
    """Say whether a file has the hash on record; warn and name both where it has not."""
    got = sha256(path.read_bytes()).hexdigest()
    if got != expected:
        warnings.warn(f"{path}: expected sha256 {expected}, got {got}. Going on with the file as it is.", stacklevel=3)
    return got == expected
