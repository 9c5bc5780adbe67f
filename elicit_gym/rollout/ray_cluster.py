"""A Ray cluster: how it is reached, and how many actors it has room for."""

import logging
import os
import socket
from pathlib import Path
from typing import Any

from elicit_gym.errors import MissingExtraError, SettingError

__all__ = ["connect", "room_for_actors"]


def connect(address: str | None = None, *, working_dir: Path | None = None) -> Any:
    """Return Ray, connected to the cluster at an address, or without one to a cluster started on this machine.

    Args:
        address: of the cluster.
        working_dir: a folder that every machine gets a copy of, as the current folder of its workers.

    Raises:
        MissingExtraError: the extra ``ray`` is not installed.
        SettingError: there is no cluster at the address, or no such folder.
    """
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("Spreading work over a cluster", "ray") from error
    if working_dir is not None and not working_dir.is_dir():
        raise SettingError(f"Spreading work: expected a folder as the working directory, got {str(working_dir)!r}.")
    if not ray.is_initialized():
        try:
            host, _, port = (address or "").removeprefix("ray://").rpartition(":")
            if host and port.isdigit():
                # Ray itself would try for a minute without saying anything.
                socket.create_connection((host, int(port)), timeout=5).close()
            ray.init(
                address=address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                include_dashboard=False,
                runtime_env={"working_dir": str(working_dir)} if working_dir is not None else None,
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise SettingError(
                f"Connecting to Ray: expected a cluster at {address!r}, got {type(error).__name__}: "
                f"{str(error)[:200]}. {_advice(error)}"
            ) from error
    return ray


def _advice(error: Exception) -> str:
    """Return what to do about a failed connection."""
    if isinstance(error, OSError):
        return "Start one with: ray start --head"
    # Ray asks for a token as soon as a local run has left one behind, whatever the cluster was started with; and the
    # errors that follow from it name anything but the token.
    said = os.environ.get("RAY_AUTH_MODE")
    return (
        "If a cluster runs there, both sides must agree on tokens, and now RAY_AUTH_MODE is "
        f"{said or 'not set'} here (where it is not set, a token left behind in ~/.ray/auth_token turns them on). Set "
        "RAY_AUTH_MODE=disabled for a cluster without tokens; for one with tokens set RAY_AUTH_MODE=token and copy its "
        "token (ray get-auth-token). Start a cluster with: ray start --head"
    )


def room_for_actors(ray: Any, gpus: float) -> int:
    """Return how many actors fit on the cluster's machines, each as a whole on one of them.

    Raises:
        SettingError: not a single one does.
    """
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    fit = [min(machine.get("CPU", 0), machine.get("GPU", 0) / gpus if gpus else float("inf")) for machine in machines]
    number = sum(int(room + 1e-9) for room in fit)
    if not number:
        most = max((machine.get("GPU", 0) for machine in machines), default=0)
        raise SettingError(
            f"Spreading over Ray: expected a machine with 1 CPU and {gpus:g} GPU for each actor, got at most {most:g} "
            "GPU on one. Lower gpus_per_actor (--gpus-per-actor), or give num_actors (--num-actors) if the cluster "
            "grows on demand."
        )
    return number
