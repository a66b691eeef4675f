"""Measures a program: fresh processes, interleaved trials, and a comparison of all outputs.

Data flows through the modules in this order: `job` (a program on one input) → `launcher` (one
process) → `trial_runner` (one checked run) → `rounds` (interleaved trials) → `statistics` → `race`
(the choice of a candidate) → `run` (all stages of `halo run`) → `results` (results.json).
"""
