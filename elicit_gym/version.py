"""The version of the package, for manifests and servers."""

__all__ = ["__version__"]

__version__ = "0.1.0"
