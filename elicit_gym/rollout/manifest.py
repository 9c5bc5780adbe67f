"""What a run was made with, so that it can be repeated, resumed, and compared only with its like.

A manifest is data: nothing that it names is ever imported, called or opened because it stands there.
"""

import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Self

from elicit_gym.envs.description import EnvironmentDescription, ScenarioSet
from elicit_gym.envs.infoquest import InfoQuestEnv
from elicit_gym.errors import ManifestMismatchError, StorageError
from elicit_gym.json_files import read_json
from elicit_gym.llm.spending import EpisodeCost, SpentRow
from elicit_gym.parts import describe, json_types, kind_of
from elicit_gym.policy import Policy
from elicit_gym.redaction import without_secrets
from elicit_gym.strict_json import from_json
from elicit_gym.types import Description
from elicit_gym.version import __version__

__all__ = ["Manifest", "RunFacts", "RunManifest", "describe_policies", "describe_run", "run_facts"]


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """What every manifest says for its reader. Of it only the package's version is held against another's.

    Attributes:
        elicit_gym: the package's version.
        versions: of Python and of the packages that are installed.
        command: what was typed, without users, passwords and queries of addresses.
        created: when, in UTC.
    """

    elicit_gym: str
    versions: Mapping[str, str]
    command: str
    created: str


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """A typed, versioned description of something that was made, as one JSON object.

    Attributes:
        made: for the reader.
    """

    KIND: ClassVar[str]
    FORMAT: ClassVar[int]

    made: RunFacts

    def identity(self) -> dict[str, Any]:
        """Return what two of them have to share before what was made may be mixed, in JSON types."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """Return the manifest in JSON types."""
        made: dict[str, Any] = json_types(asdict(self), "the manifest")
        return {"kind": self.KIND, "format": self.FORMAT, **made}

    @classmethod
    def from_json(cls, value: Any, where: str) -> Self:
        """Invert `to_json`.

        Args:
            value: as JSON has it.
            where: it stands, for the error.

        Raises:
            StorageError: it is not a manifest of this kind and format, or a field is missing or of another type.
        """
        if not isinstance(value, dict):
            raise StorageError(
                f"Reading {where}: expected the manifest of {cls.KIND}, a JSON object, got {type(value).__name__}."
            )
        kind, version = value.get("kind", "an older format"), value.get("format")
        if kind != cls.KIND or version != cls.FORMAT:
            raise StorageError(
                f"Reading {where}: expected the manifest of {cls.KIND} in format {cls.FORMAT}, got {kind!s:.40} in "
                f"format {version!r:.40}. Make it again, or use the version of elicit-gym that wrote it."
            )
        return from_json(cls, {name: inner for name, inner in value.items() if name not in ("kind", "format")}, where)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a manifest's file; see `from_json`."""
        return cls.from_json(read_json(path, f"the manifest of {cls.KIND}"), str(path))

    def differences(self, theirs: Self) -> list[str]:
        """Return one line for each thing that matters and that another manifest has otherwise."""
        return _differences(self.identity(), theirs.identity())

    def check_same(self, doing: str, theirs: Self, advice: str) -> None:
        """Refuse another manifest that differs in what matters.

        Args:
            doing: for the error.
            theirs: the one that was found.
            advice: for the error.

        Raises:
            ManifestMismatchError: it does; names each difference.
        """
        differences = self.differences(theirs)
        if differences:
            raise ManifestMismatchError(doing, differences, advice)


def _differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    here, there = _flat(ours), _flat(theirs)
    return [
        f"{key}: {there.get(key)!r} there, {here.get(key)!r} here"
        for key in dict.fromkeys((*there, *here))
        if there.get(key) != here.get(key)
    ]


def _flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """Return nested mappings as one, by dotted path."""
    if not isinstance(value, Mapping):
        return {prefix: value}
    return {k: v for key, inner in value.items() for k, v in _flat(inner, f"{prefix}.{key}" if prefix else key).items()}


@dataclass(frozen=True, kw_only=True)
class RunManifest(Manifest):
    """What a run's records depend on.

    Attributes:
        env_id: of the environment.
        environment: what it says of itself.
        scenarios: those that it can draw, not only those played; identified by their hash.
        policies: what each says of itself.
        privileged: names of those that know the hidden context.
        seed: the base seed.
        repeats: episodes for each scenario.
        stopped: why the run ended early, None where it did not.
        spent: what its calls to models have cost, in all processes that went on with it.
        episode_costs: what the dearest episode of each policy takes: a budget sets as much aside for the next.
        env_kwargs: remark: the arguments that the environment was made with, those of its registration included.
    """

    KIND: ClassVar[str] = "a run"
    FORMAT: ClassVar[int] = 2

    env_id: str
    environment: EnvironmentDescription
    scenarios: ScenarioSet
    policies: tuple[Description, ...]
    privileged: tuple[str, ...]
    seed: int
    repeats: int
    stopped: str | None = None
    spent: tuple[SpentRow, ...] = ()
    episode_costs: tuple[EpisodeCost, ...] = ()
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The policies' names."""
        return tuple(policy.name for policy in self.policies)

    def identity(self) -> dict[str, Any]:
        """Return what two runs have to share to be compared; which policies they have may differ."""
        return {
            "elicit_gym": self.made.elicit_gym,
            "env_id": self.env_id,
            "environment": self.environment.identity(),
            "scenarios": self.scenarios.identity(),
            "seed": self.seed,
        }

    def differences(self, theirs: "RunManifest") -> list[str]:
        """Return what differs between two runs, and in the policies that both have."""
        ours, others = (
            {"policies": {p.name: p.identity() for p in m.policies if p.name in set(self.names) & set(theirs.names)}}
            for m in (self, theirs)
        )
        return [*super().differences(theirs), *_differences(ours, others)]

    def with_policies_of(self, other: "RunManifest") -> "RunManifest":
        """Return this manifest with the policies of another run behind its own."""
        return replace(
            self,
            policies=(*self.policies, *(policy for policy in other.policies if policy.name not in self.names)),
            privileged=tuple(dict.fromkeys((*self.privileged, *other.privileged))),
            repeats=max(self.repeats, other.repeats),
            stopped=self.stopped or other.stopped,
            spent=(*self.spent, *(row for row in other.spent if row.policy not in self.names)),
            episode_costs=(*self.episode_costs, *(c for c in other.episode_costs if c.policy not in self.names)),
        )


def describe_policies(policies: Sequence[Policy]) -> tuple[Description, ...]:
    """Return what each policy says of itself, under the name that reports call it by.

    Raises:
        SettingError: a policy describes itself in something else than JSON types.
    """
    return tuple(replace(describe(policy), name=policy.name) for policy in policies)


def describe_run(
    env: InfoQuestEnv,
    policies: Sequence[Description],
    *,
    privileged: Sequence[str] = (),
    repeats: int,
    seed: int,
) -> RunManifest:
    """Describe a run.

    Args:
        env: one of its environments, made by `gym.make`.
        policies: what each says of itself.
        privileged: names of those that know the hidden context.
        repeats: episodes for each scenario.
        seed: the base seed.
    """
    spec = env.spec
    return RunManifest(
        env_id=spec.id if spec is not None else kind_of(env),
        environment=env.describe(),
        scenarios=env.describe_scenarios(),
        policies=tuple(policies),
        privileged=tuple(privileged),
        seed=seed,
        repeats=repeats,
        env_kwargs=without_secrets(spec.kwargs) if spec is not None else {},
        made=run_facts(("gymnasium", "numpy", "scipy", "litellm")),
    )


def run_facts(packages: Sequence[str]) -> RunFacts:
    """Return what every manifest says for its reader.

    Args:
        packages: whose versions are told, where they are installed.
    """
    from importlib.metadata import PackageNotFoundError, version

    versions = {"python": platform.python_version()}
    for package in packages:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:  # the extra is not installed
            continue
    return RunFacts(
        elicit_gym=__version__,
        versions=versions,
        command=without_secrets(" ".join(sys.argv[:1] and [sys.argv[0].rsplit("/", 1)[-1], *sys.argv[1:]])),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
