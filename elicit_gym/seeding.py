"""Seeds that derive from what a unit of work is, never from the order in which it is done."""

from hashlib import sha256

__all__ = ["unit_seed"]


def unit_seed(base_seed: int, *unit: str | int) -> int:
    """Return a seed in [0, 2**31) for this unit of work.

    The policy's name is deliberately not part of a unit: all policies of a comparison meet the same user in the same
    mood (common random numbers), so that luck does not blur their difference.
    """
    text = "\x1f".join([str(base_seed), *map(str, unit)])
    return int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:4], "big") >> 1
