"""The commands that repeat a measurement, and the one that uses what was kept."""

from __future__ import annotations

import shlex

from halo.results import Measurement


def commands(measurement: Measurement) -> list[tuple[str, str]]:
    """What each is for, and the command as one would type it."""
    reference = measurement.commands.get("reference", ())
    train = measurement.commands.get("train")
    trials = str(len(next(iter(measurement.reference.values()))))
    tolerance = _tolerance(measurement)
    if train is None:
        words = ["halo", "baseline", "--trials", trials, *tolerance, "--", *reference]
        return [("Measure again", shlex.join(words))]
    verb = "evaluate" if measurement.contenders else "run"
    run = ["halo", verb, "--trials", trials, *tolerance, "--", *train, "--", *reference]
    found = [("Measure again", shlex.join(run))]
    kept = measurement.kept
    if kept is not None and not measurement.keeps_none:
        plan = str(measurement.folder / (kept.plan or f"{kept.candidate}.plan"))
        use = ["halo", "exec", "--plan", plan, "--allocator", kept.allocator, "--", *reference]
        found.append(("Run it under the kept plan", shlex.join(use)))
    return found


def _tolerance(measurement: Measurement) -> list[str]:
    """The options without which the measurement would be refused."""
    statuses = {trial.status for found in measurement.reference.values() for trial in found}
    allowed = [word for n in sorted(statuses - {0}) for word in ("--allow-status", str(n))]
    return allowed + ([] if measurement.outputs_compared else ["--ignore-output"])
