"""Policies: baselines, and how to load one by name."""

from elicit_gym.agents.load import load_policy

__all__ = ["load_policy"]
