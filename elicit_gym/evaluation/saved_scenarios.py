"""The scenarios of a saved run: identified by their hash, looked for only where it is safe to look."""

from collections.abc import Iterator, Sequence

from elicit_gym.errors import ElicitGymError, SettingError
from elicit_gym.rollout.manifest import RunManifest
from elicit_gym.scenarios.load import load_scenarios, scenarios_sha256
from elicit_gym.types import Scenario

__all__ = ["scenarios_of_run"]

_KNOWN = ("bundled", "infoquest")
"""Names that a manifest may say. A path that stands there is text: only the user says which files are opened."""


def scenarios_of_run(manifest: RunManifest, source: str | None = None) -> tuple[Scenario, ...]:
    """Return the scenarios that a run was made with.

    Args:
        manifest: of the run.
        source: where the user says that they are: a known name or a path. None for the name that the manifest has.

    Returns:
        None of them where no source was given and they are not at hand.

    Raises:
        SettingError: there are others at the source.
        ScenarioError: what is there cannot be read.
    """
    wanted = manifest.scenarios
    if source is None:
        try:
            loaded = load_scenarios(wanted.source) if wanted.source in _KNOWN else ()
        except ElicitGymError:  # no network, no extra: the caller says what is missing without them
            return ()
        return next((some for some in _parts(loaded, manifest) if scenarios_sha256(some) == wanted.sha256), ())
    loaded = load_scenarios(source)
    for some in _parts(loaded, manifest):
        if scenarios_sha256(some) == wanted.sha256:
            return some
    raise SettingError(
        f"Reading scenarios from {source}: expected the {wanted.count} that the run was made with (sha256 "
        f"{wanted.sha256[:12]}), got {len(loaded)} others (sha256 {scenarios_sha256(loaded)[:12]}). Name their source."
    )


def _parts(scenarios: Sequence[Scenario], manifest: RunManifest) -> Iterator[tuple[Scenario, ...]]:
    """Yield what the run may have drawn from: all, or the split that its manifest remarks."""
    yield tuple(scenarios)
    yield tuple(scenario for scenario in scenarios if scenario.split == manifest.scenarios.split)
