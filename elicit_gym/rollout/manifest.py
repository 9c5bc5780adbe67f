"""What a run was made with, so that it can be repeated, resumed, and compared with runs of the same kind only."""

import platform
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from elicit_gym.errors import ManifestMismatchError
from elicit_gym.scenarios.load import scenarios_sha256
from elicit_gym.types import Scenario
from elicit_gym.version import __version__

__all__ = ["check_same_settings", "make_manifest", "prompt_hashes", "run_facts"]

_WHAT_MATTERS = ("format", "env_id", "env_kwargs", "scenarios", "prompts", "seed", "elicit_gym")


def make_manifest(
    *,
    env_id: str,
    env_kwargs: Mapping[str, Any],
    scenarios: Sequence[Scenario],
    policies: Sequence[str],
    privileged: Sequence[str],
    repeats: int,
    seed: int,
    prompts: Mapping[str, str] | None = None,
    policy_prompts: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, Any]:
    """Describe a run.

    Args:
        env_id: the environment's id.
        env_kwargs: the environment's arguments.
        scenarios: those of the environment (all that it can draw, not only those played).
        policies: the policies' names.
        privileged: the names of those that know the hidden context.
        repeats: the number of episodes per scenario.
        seed: the base seed.
        prompts: the hash of each prompt file in the environment's seats, by name.
        policy_prompts: the same for each policy that has prompts.

    Returns:
        JSON types. ``command``, ``created``, ``policies``, ``policy_prompts``, ``privileged``, ``repeats`` and
        ``versions`` are for the reader; the rest is what records depend on.
    """
    return {
        "format": 1,
        "elicit_gym": __version__,
        "env_id": env_id,
        "env_kwargs": dict(env_kwargs),
        "scenarios": {"count": len(scenarios), "sha256": scenarios_sha256(scenarios)},
        "prompts": dict(prompts or {}),
        "seed": seed,
        "repeats": repeats,
        "policies": list(policies),
        "privileged": list(privileged),
        "policy_prompts": {name: dict(hashes) for name, hashes in (policy_prompts or {}).items()},
        "stopped": None,
        **run_facts(("gymnasium", "numpy", "scipy", "litellm")),
    }


def run_facts(packages: Sequence[str]) -> dict[str, Any]:
    """Return what every manifest says for its reader: ``versions`` (of those installed), ``command``, ``created``."""
    from importlib.metadata import PackageNotFoundError, version

    versions = {"python": platform.python_version()}
    for package in packages:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:  # the extra is not installed
            continue
    return {
        "versions": versions,
        "command": " ".join(sys.argv[:1] and [sys.argv[0].rsplit("/", 1)[-1], *sys.argv[1:]]),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def prompt_hashes(part: object) -> dict[str, str]:
    """Return the hash of each prompt file that a part holds, by name."""
    return {prompt.name: prompt.sha256 for prompt in getattr(part, "prompts", ())}


def check_same_settings(
    doing: str,
    ours: Mapping[str, Any],
    theirs: Mapping[str, Any],
    advice: str,
    what_matters: Sequence[str] = _WHAT_MATTERS,
) -> None:
    """Refuse two manifests that differ in what records depend on.

    Args:
        doing: what is being done, for the error message.
        ours: today's manifest.
        theirs: the manifest that was found.
        advice: what to do, for the error message.
        what_matters: the keys whose values have to be equal.

    Raises:
        ManifestMismatchError: they differ; the error names each difference.
    """
    differences = [
        f"{key}: {theirs.get(key)!r} there, {ours.get(key)!r} here"
        for key in what_matters
        if ours.get(key) != theirs.get(key)
    ]
    if differences:
        raise ManifestMismatchError(doing, differences, advice)
