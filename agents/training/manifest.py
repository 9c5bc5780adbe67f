"""What a policy was trained with: settings, data and versions, beside its weights."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from elicit_gym.agents.local_model import adapter_sha256
from elicit_gym.agents.policy_folder import base_name
from elicit_gym.agents.training.settings import TrainingSettings
from elicit_gym.json_files import write_json
from elicit_gym.llm.weights import weights_sha256
from elicit_gym.offline.windows import Window, WindowSet
from elicit_gym.parts import json_types
from elicit_gym.rollout.manifest import Manifest, RunManifest, run_facts

__all__ = ["MANIFEST", "Method", "TrainingManifest", "keep_manifest", "training_manifest"]

MANIFEST = "manifest.json"

Method = Literal["sft", "awr", "grpo"]


@dataclass(frozen=True, kw_only=True)
class TrainingManifest(Manifest):
    """What trained weights depend on; the same for every way of training.

    Attributes:
        method: how.
        base_model: remark where `base_sha256` is known: hub id or folder of the base model.
        base_sha256: of its weights; None where they lie on no disk.
        adapter_sha256: of the adapter that training starts from; None where it starts from the base model alone.
        architecture: type, precision and number of parameters.
        settings: all of them.
        train, dev: the windows trained on, and those that chose the checkpoint; None where there are none.
        run: the conversations that were played; None where training was offline.
    """

    KIND: ClassVar[str] = "a training"
    FORMAT: ClassVar[int] = 2

    method: Method
    base_model: str
    base_sha256: str | None
    architecture: Mapping[str, Any]
    settings: Mapping[str, Any]
    adapter_sha256: str | None = None
    train: WindowSet | None = None
    dev: WindowSet | None = None
    run: RunManifest | None = None

    def identity(self) -> dict[str, Any]:
        """Return what a training has to share to be gone on with."""
        return {
            "elicit_gym": self.made.elicit_gym,
            "method": self.method,
            "base_model": self.base_model if self.base_sha256 is None else None,
            "base_sha256": self.base_sha256,
            "adapter_sha256": self.adapter_sha256,
            "architecture": dict(self.architecture),
            "settings": dict(self.settings),
            "train": self.train.identity() if self.train is not None else None,
            "dev": self.dev.identity() if self.dev is not None else None,
            "run": self.run.identity() if self.run is not None else None,
        }


def training_manifest(
    method: Method,
    model: Any,
    settings: TrainingSettings,
    *,
    train: Sequence[Window] | None = None,
    dev: Sequence[Window] | None = None,
    run: RunManifest | None = None,
) -> TrainingManifest:
    """Describe a training run.

    Args:
        method: how.
        model: the base model.
        settings: all of them.
        train: the windows trained on.
        dev: those that choose the checkpoint.
        run: the conversations that are played.
    """
    config = model.config
    base = base_name(model)
    return TrainingManifest(
        method=method,
        base_model=base,
        base_sha256=weights_sha256([base]) if base else None,
        architecture={"type": config.model_type, "dtype": str(model.dtype), "parameters": model.num_parameters()},
        settings=json_types(asdict(settings), "the settings"),
        adapter_sha256=adapter_sha256(model),
        train=WindowSet.of(train) if train is not None else None,
        dev=WindowSet.of(dev) if dev is not None else None,
        run=run,
        made=run_facts(("torch", "transformers", "accelerate", "peft", "trl")),
    )


def keep_manifest(manifest: TrainingManifest, out: Path, *, resume: bool, write: bool) -> None:
    """Write the manifest of a training into its folder; where one is resumed, hold it against what is there first.

    Args:
        manifest: of now.
        out: the folder, made if need be.
        resume: whether the training in the folder goes on.
        write: whether this process writes; of several, one does.

    Raises:
        ManifestMismatchError: the training in the folder was begun with something else; names each difference.
        StorageError: the manifest there cannot be read.
    """
    path = out / MANIFEST
    if resume and path.is_file():
        manifest.check_same(
            f"Resuming the training in {out}", TrainingManifest.read(path),
            "Use the same settings, or choose another folder.",
        )  # fmt: skip
    if write:
        write_json(path, manifest.to_json())
