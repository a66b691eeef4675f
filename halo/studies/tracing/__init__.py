"""Traces of instrumented programs: runs, and conversion to datasets and profiles."""
