"""Numbers in a service's answer, which may be missing, null or something else."""

import math
from typing import Any

__all__ = ["number_or_none", "parse_retry_after"]


def number_or_none(value: Any) -> int | None:
    """Return a count of tokens; None where the service does not say one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < math.inf else None


def parse_retry_after(value: str | None) -> float | None:
    """Return the seconds of a Retry-After header, or None if there are none (model services do not send dates)."""
    try:
        seconds = float(value) if value is not None else math.nan
    except ValueError:
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
