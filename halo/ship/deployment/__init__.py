"""Folders with all that a program needs to run under a plan on a machine without halo."""
