"""Sections of a profile: one module for each, which reads, writes and merges it."""
