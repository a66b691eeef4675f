"""The commands that repeat a measurement, and the one that uses the kept plan."""

from __future__ import annotations

import shlex

from halo.results import Measurement


def commands(measurement: Measurement) -> list[tuple[str, str]]:
    """Pairs of a purpose and a command line."""
    reference = measurement.results.commands.get("reference", ())
    train = measurement.results.commands.get("train")
    trials = str(len(next(iter(measurement.reference.values()))))
    service = measurement.results.commands.get("service", ())
    tolerance = [*service, *_tolerance(measurement)]
    if train is None:
        words = ["halo", "eval", "baseline", "--trials", trials, *tolerance, "--", *reference]
        return [("Measure again", shlex.join(words))]
    verb = ["eval", "compare"] if measurement.configurations else ["run"]
    inputs = _further_inputs(measurement)
    run = ["halo", *verb, "--trials", trials, *tolerance, *inputs, "--", *train]
    if train != reference or not service:
        run += ["--", *reference]
    found = [("Measure again", shlex.join(run))]
    kept = measurement.kept
    if kept is not None and not measurement.keeps_none:
        plan = str(measurement.folder / (kept.plan or f"{kept.candidate}.plan"))
        use = ["halo", "exec", "--plan", plan, "--allocator", kept.allocator, "--", *reference]
        found.append(("Run it under the kept plan", shlex.join(use)))
    return found


def _further_inputs(measurement: Measurement) -> list[str]:
    """The options for all training inputs but the first."""
    given = measurement.results.commands
    more = sorted((int(name[6:]), given[name]) for name in given if name.startswith("train-"))
    return [word for _, command in more for word in ("--train", shlex.join(command[1:]))]


def _tolerance(measurement: Measurement) -> list[str]:
    """The options without which halo would refuse the measurement."""
    statuses = {trial.status for found in measurement.reference.values() for trial in found}
    allowed = [word for n in sorted(statuses - {0}) for word in ("--allow-status", str(n))]
    return allowed + ([] if measurement.summary.outputs_compared else ["--ignore-output"])
