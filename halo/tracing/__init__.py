"""Traces of instrumented programs: turning them into columns and profiles."""
