"""Measure policies and compare them head to head."""
