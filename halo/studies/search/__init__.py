"""Predictions of the misses under plans, from an object trace (docs/search.md)."""
