"""The commands that repeat a measurement, and the one that uses the kept plan."""

from __future__ import annotations

import shlex

from halo.report.results import Measurement


def commands(measurement: Measurement) -> list[tuple[str, str]]:
    """Pairs of a purpose and a command line."""
    reference = measurement.results.commands.get("reference", ())
    train = measurement.results.commands.get("train")
    trials = str(len(next(iter(measurement.reference.values()))))
    options = measurement.results.commands.get("options", ())
    if train is None:
        words = [
            "halo",
            "study",
            "eval",
            "baseline",
            "--trials",
            trials,
            *options,
            "--",
            *reference,
        ]
        return [("Measure again", shlex.join(words))]
    verb = ["study", "eval", "compare"] if measurement.configurations else ["run"]
    measured = measurement.results.commands.get("measured", reference)
    inputs = _further_inputs(measurement)
    if measured != reference:
        inputs += ["--hold-out", shlex.join(reference[1:])]
    run = ["halo", *verb, "--trials", trials, *options, *inputs, "--", *train]
    if train != measured or measurement.configurations:
        run += ["--", *measured]
    found = [("Measure again", shlex.join(run))]
    kept = measurement.kept
    if kept is not None and not measurement.keeps_none:
        plan = str(measurement.folder / (kept.plan or f"{kept.candidate}.plan"))
        # A library that is the program's own allocator is in the plan's review; no option names it.
        over = [] if measurement.keeps_own else ["--allocator", kept.allocator]
        use = ["halo", "exec", "--plan", plan, *over, "--", *reference]
        found.append(("Run it under the kept plan", shlex.join(use)))
    return found


def _further_inputs(measurement: Measurement) -> list[str]:
    """The options for the other inputs."""
    given = measurement.results.commands
    numbers = [
        (name.removeprefix("train-"), command)
        for name, command in given.items()
        if name.startswith("train-")
    ]
    more = sorted((int(number), command) for number, command in numbers if number.isdecimal())
    return [word for _, command in more for word in ("--also", shlex.join(command[1:]))]
