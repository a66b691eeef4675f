"""The commands that repeat a measurement, and the one that uses what was kept."""

from __future__ import annotations

import shlex

from halo.results import Measurement


def commands(measurement: Measurement) -> list[tuple[str, str]]:
    """What each is for, and the command as one would type it."""
    reference = measurement.commands.get("reference", ())
    train = measurement.commands.get("train")
    trials = str(len(next(iter(measurement.reference.values()))))
    if train is None:
        words = ["halo", "baseline", "--trials", trials, "--", *reference]
        return [("Measure again", shlex.join(words))]
    verb = "evaluate" if measurement.contenders else "run"
    run = ["halo", verb, "--trials", trials, "--", *train, "--", *reference]
    found = [("Measure again", shlex.join(run))]
    kept = measurement.kept
    if kept is not None and not measurement.keeps_none:
        plan = str(measurement.folder / (kept.plan or f"{kept.candidate}.plan"))
        use = ["halo", "exec", "--plan", plan, "--allocator", kept.allocator, "--", *reference]
        found.append(("Run it under the kept plan", shlex.join(use)))
    return found
