"""Strategies: pure functions from a profile to groups of contexts (docs/strategies.md).

A strategy is one file and one line in `halo/registry.py`; `factory` runs them by name.
"""
