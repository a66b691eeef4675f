"""Measures a program: fresh processes, interleaved trials, and the output of every run compared.

The order of the modules is that of the data: `job` (what is run) → `launcher` (one process) →
`laboratory` (one checked run) → `rounds` (interleaved trials) → `statistics` → `race` (which
candidate is kept) → `study` (the whole of `halo run`) → `results` (what is written down).
"""
