"""Draws figures and writes tables."""
