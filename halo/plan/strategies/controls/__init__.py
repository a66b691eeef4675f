"""Strategies that no run proposes: controls for measurements."""
