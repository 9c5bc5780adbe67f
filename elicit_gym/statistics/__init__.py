"""Honest numbers about episodes and windows that come in clusters: estimates with intervals, and tests."""
