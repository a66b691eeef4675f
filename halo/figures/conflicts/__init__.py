"""Figures of conflicts in the first cache."""
