"""Measure policies and compare them head to head, with honest statistics."""
