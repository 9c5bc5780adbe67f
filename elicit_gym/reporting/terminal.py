"""Text that a terminal can show."""

__all__ = ["printable"]


def printable(text: str) -> str:
    """Replace what no terminal can encode (lone surrogates) and escape control characters."""
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(c if c in "\n\t" or c.isprintable() else f"\\x{ord(c):02x}" for c in clean)
