"""Scenarios: the bundled ones, the published format, their validation and the cues that a scripted judge reads."""
