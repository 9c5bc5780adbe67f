"""Offline datasets."""
