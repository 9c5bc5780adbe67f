"""How a cluster is reached, and how much room it has."""

from types import SimpleNamespace
from typing import Any

import pytest

from elicit_gym.errors import SettingError
from elicit_gym.rollout import ray_cluster
from elicit_gym.rollout.ray_cluster import room_for_actors


def cluster(*machines: dict[str, float]) -> Any:
    return SimpleNamespace(nodes=lambda: [{"Alive": True, "Resources": machine} for machine in machines])


@pytest.mark.parametrize(
    ("gpus", "room"),
    [(0, 12), (1, 3), (0.5, 6), (0.1, 12), (2, 1)],
)
def test_an_actor_fits_on_one_machine_as_a_whole(gpus: float, room: int) -> None:
    assert room_for_actors(cluster({"CPU": 8, "GPU": 1}, {"CPU": 4, "GPU": 2}, {"GPU": 4}), gpus) == room


def test_a_machine_that_is_gone_has_no_room() -> None:
    ray = cluster({"CPU": 8})
    ray.nodes = lambda: [{"Alive": False, "Resources": {"CPU": 8}}, {"Alive": True, "Resources": {"CPU": 1}}]
    assert room_for_actors(ray, 0) == 1


def test_no_room_is_told() -> None:
    with pytest.raises(SettingError, match="expected a machine with 1 CPU and 3 GPU for each actor, got at most 2 GPU"):
        room_for_actors(cluster({"CPU": 4, "GPU": 2}), 3)


@pytest.mark.parametrize("mode", [None, "token"])
def test_a_token_that_does_not_fit_is_explained(mode: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    def init(**settings: object) -> None:
        raise RuntimeError("Failed to get the system config from raylet because it is dead.")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    if mode:
        monkeypatch.setenv("RAY_AUTH_MODE", mode)
    with pytest.raises(SettingError, match=f"RAY_AUTH_MODE is {mode or 'not set'} here .*RAY_AUTH_MODE=disabled"):
        ray_cluster.connect("auto")


def test_a_working_directory_is_checked_first(tmp_path: Any) -> None:
    with pytest.raises(SettingError, match="expected a folder as the working directory"):
        ray_cluster.connect(working_dir=tmp_path / "none")
