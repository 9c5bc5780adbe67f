"""Numbers in a service's answer, which may be missing, null or something else."""

from typing import Any

__all__ = ["number_or_none", "parse_retry_after"]


def number_or_none(value: Any) -> int | None:
    """Return a count of tokens; None where the service does not say one."""
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def parse_retry_after(value: str | None) -> float | None:
    """Return the seconds of a Retry-After header, or None if there are none (model services do not send dates)."""
    try:
        return max(0.0, float(value)) if value is not None else None
    except ValueError:
        return None
