"""What policies said to windows, kept line by line, so that a killed evaluation continues where it was."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from elicit_gym.errors import SettingError
from elicit_gym.json_files import append_lines, resume_records, write_json
from elicit_gym.offline.windows import Window, WindowSet
from elicit_gym.policy import Policy
from elicit_gym.rollout.manifest import Manifest, describe_policies, run_facts
from elicit_gym.strict_json import json_text, typed
from elicit_gym.types import Description

__all__ = ["Answer", "AnswerFile", "EvaluationManifest", "evaluation_manifest"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What one policy said to one window.

    Attributes:
        policy: the policy's name.
        index: the window's index.
        said: the utterance; None if the policy failed.
        failure: why the policy failed.
        log_prob, num_tokens: the log probability and the number of tokens of the human's utterance; None if the policy
            cannot score text.
        prompt_tokens: the number of tokens that the policy read; None if it does not report it.
    """

    policy: str
    index: int
    said: str | None
    failure: str | None = None
    log_prob: float | None = None
    num_tokens: int | None = None
    prompt_tokens: int | None = None


@dataclass(frozen=True, kw_only=True)
class EvaluationManifest(Manifest):
    """What the answers of an evaluation depend on.

    Attributes:
        windows: hashed, so that answers to other windows are never taken for answers to these.
        policies: what each says of itself.
        settings: JSON types.
        data: remark: what was asked for.
    """

    KIND: ClassVar[str] = "an evaluation on YIELD"
    FORMAT: ClassVar[int] = 2

    windows: WindowSet
    policies: tuple[Description, ...]
    settings: Mapping[str, Any]
    data: str

    def identity(self) -> dict[str, Any]:
        """Return what an evaluation has to share to be gone on with: answers of other policies are no use to it."""
        return {
            "elicit_gym": self.made.elicit_gym,
            "windows": self.windows.identity(),
            "policies": {policy.name: policy.identity() for policy in self.policies},
            "settings": dict(self.settings),
        }


def evaluation_manifest(
    policies: Sequence[Policy], windows: Sequence[Window], *, data: str, settings: Mapping[str, Any]
) -> EvaluationManifest:
    """Describe an evaluation: what its answers depend on, and versions, command and time for the reader.

    Args:
        policies: describe themselves.
        windows: of the test split.
        data: what was asked for.
        settings: JSON types.
    """
    return EvaluationManifest(
        data=data,
        windows=WindowSet.of(windows),
        policies=describe_policies(policies),
        settings=dict(settings),
        made=run_facts(("numpy", "scipy", "torch", "transformers", "peft", "sentence-transformers", "litellm")),
    )


class AnswerFile:
    """The files ``answers.jsonl`` and ``manifest.json`` of an evaluation.

    Args:
        folder: the evaluation's folder, created if it does not exist.
        manifest: see `evaluation_manifest`.
        resume: continue what is there.

    Raises:
        SettingError: the folder holds answers already and `resume` is off.
        ManifestMismatchError: `resume` is on, and they were made with other windows, policies or settings.
        StorageError: a line cannot be read.
    """

    def __init__(self, folder: Path, manifest: EvaluationManifest, *, resume: bool) -> None:
        self._path = folder / "answers.jsonl"
        self._known: dict[tuple[str, int], Answer] = {}
        if self._path.exists():
            doing = f"Evaluating into {folder}"
            if not resume:
                raise SettingError(
                    f"{doing}: expected a folder without an evaluation, got one with answers. "
                    "Go on with it (--resume), or choose another folder."
                )
            there = EvaluationManifest.read(folder / "manifest.json")
            manifest.check_same(doing, there, "Use the same settings, or choose another folder.")
            advice = "Remove the line; the window will be answered again."
            answers = resume_records(self._path, lambda row: typed(Answer, row, ""), what="an answer", advice=advice)
            self._known = {(answer.policy, answer.index): answer for answer in answers}
        write_json(folder / "manifest.json", manifest.to_json())
        append_lines(self._path, "")

    def known(self, policy: str) -> dict[int, Answer]:
        """Return a policy's answers by the window's index, without failures, which are tried again."""
        return {
            index: answer for (name, index), answer in self._known.items() if name == policy and answer.said is not None
        }

    def append(self, answers: Sequence[Answer]) -> None:
        """Write answers and flush them."""
        append_lines(self._path, "".join(json_text(asdict(answer)) + "\n" for answer in answers))
