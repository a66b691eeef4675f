"""Offers hints of unmodified programs to the selection of `halo run`, on all bundled programs.

captured.py plan FOLDER [NAME...]    records, and makes the plans: what FOLDER/NAME lacks
captured.py race FOLDER [NAME...]    selects with and without hints, where there are any
captured.py clock FOLDER [NAME...]   runs what both selections keep, on the reference input
captured.py table FOLDER [NAME...]   a row for each program

`plan` records the training input twice: as `halo run` does, and with objects and contents. Times of
recordings and analyses are processor seconds of all processes. With `--smaller`, it records a
smaller input of those programs that have many accesses, and only once those in which the first
recording has no call site to study. `race` has all plans of the second
recording but those of the search. The plans of hints run in all rounds, beside the race. So one
selection is that without hints, and the other has them among its finalists. Where both keep the
same, hints change nothing. Else `clock` runs both, with the baseline allocators: interleaved, fresh
processes, the first round dropped. A ratio is the time of the selection without hints over that
with them. `table` ends with status 1 if the interval of one is below 0.98.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
from interleaved import Configuration, measure
from traced_programs import write_inputs

from halo.captured import sentence, survey
from halo.files.atomic import write_json
from halo.plan import read_plan
from halo.process.allocators import Allocator, baseline_allocators
from halo.profile import read_profile
from halo.schema.trial import Trial
from halo.settings import Settings, read_settings
from halo.trials.bundled import find_bundled, list_plain, prepare
from halo.trials.candidates import Candidate, make_candidates, make_plans
from halo.trials.deep.choice import choose_variants
from halo.trials.racing.field import FINALISTS
from halo.trials.racing.heats import Heat
from halo.trials.racing.race import Pace, race
from halo.trials.racing.sequential import BOUNDS
from halo.trials.racing.verdict import judge
from halo.trials.run import NEAR, field_of
from halo.trials.runs.job import Job
from halo.trials.runs.rounds import Samples
from halo.trials.statistics import Ratio, ratio

HINTS = "hints"
SEARCH = "search"
FEW_ROUNDS = 5  # to rank the allocators
MIN_RATIO = 0.98
SMALLER = {
    "hospital": ("5", "60", "1"),
    "mst": ("30000", "90000", "1"),
    "mesh": ("200", "200", "400000", "1"),
    "pagerank": ("20000", "130000", "4", "1"),
    "server": ("40000", "4000", "12000", "2", "1"),
    "sessions-240": ("400", "240", "3000000", "1"),
    "sessions-256": ("400", "256", "3000000", "1"),
    "hashindex": ("5000", "9", "1"),
    "xsltproc": ("{folder}/report.xsl", "{folder}/books.xml"),
}
PLANNED, PLANS = "planned.json", "plans.json"
RACED, MEASURED = "raced.json", "measured.json"
Times = Mapping[str, Sequence[float]]


class Step(msgspec.Struct, frozen=True):
    """A halo command: its processor seconds, and at most how many bytes a process of it used."""

    seconds: float
    peak_bytes: int


class Planned(msgspec.Struct, frozen=True):
    """What offering hints costs, and how many rules there are; `why_none` is a sentence.

    `recorded` is without objects, `with_contents` with them. `trace_bytes` is the object trace's.
    """

    recorded: Step
    why_none: str = ""
    rules: int = 0
    with_contents: Step | None = None
    planned: Step | None = None
    trace_bytes: int = 0


class Raced(msgspec.Struct, frozen=True):
    """The labels that are kept with and without hints.

    `training` has the seconds of the finalists and of the plans of hints.
    """

    kept: str
    kept_without: str
    training: Times

    @property
    def differ(self) -> bool:
        return self.kept != self.kept_without

    def offered(self, reference: Times) -> Ratio:
        """The selection without hints over that with them, from seconds by label."""
        return ratio(reference[self.kept_without], reference[self.kept])

    def over_best(self, reference: Times) -> Ratio:
        """The best baseline allocator over what is kept with hints."""
        names = [it.name for it in baseline_allocators()]
        best = min(names, key=lambda name: statistics.median(reference[name]))
        return ratio(reference[best], reference[self.kept])


def step(*arguments: str, env: Mapping[str, str]) -> Step:
    """Runs a halo command; prints its output only if it fails."""
    command = [sys.executable, "-m", "halo", *arguments]
    process = subprocess.Popen(
        command, env={**os.environ, **env}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if status:
        sys.exit(f"{' '.join(command)} failed:\n{said.decode(errors='replace')}")
    return Step(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def plan_program(settings: Settings, name: str, folder: Path, smaller: bool) -> Planned:
    """Writes the plans of the program to the folder, if it has rules for hints."""
    bundled = find_bundled(settings, name)
    training, _ = prepare(settings, bundled)
    arguments = training.arguments
    if smaller and name in SMALLER:
        write_inputs(folder)
        arguments = tuple(it.replace("{folder}", str(folder)) for it in SMALLER[name])
    command = ("--", str(training.target.path), *arguments)
    profile, hints = folder / "program.profile", folder / "offered.plan"
    plain = folder / "plain.profile"
    recorded = step("record", "-o", str(plain), *command, env=bundled.env)
    found = survey(read_profile(plain))
    if smaller and not found.kinds:
        return Planned(recorded, sentence(found.refused))
    options = ("--objects", "--contents", "-o", str(profile))
    with_contents = step("record", *options, *command, env=bundled.env)
    planned = step("plan", "--strategy", HINTS, "-o", str(hints), str(profile), env={})
    plan, objects = read_plan(hints), profile.with_suffix(".objects")
    size = objects.stat().st_size
    if plan.hints:
        variants = [it for it in choose_variants([]) if it.strategy != SEARCH]
        made = make_plans(read_profile(profile), variants, folder)
        write_json([(it.label, huge) for it, _, huge in made], folder / PLANS)
    objects.unlink()
    assert plan.review is not None
    why = plan.review.why_no_hints
    return Planned(recorded, why, len(plan.hints), with_contents, planned, size)


class Program:
    """The candidates of a program, over all baseline allocators."""

    def __init__(self, settings: Settings, name: str, folder: Path) -> None:
        self._settings = settings
        self._variables = find_bundled(settings, name).env
        self._jobs = prepare(settings, find_bundled(settings, name))
        rows = msgspec.json.decode((folder / PLANS).read_bytes(), type=list[tuple[str, bool]])
        variants = {it.label: it for it in choose_variants([])}
        self._plans = [(variants[it], folder / f"{it}.plan", huge) for it, huge in rows]

    def race(self, trials: int) -> Raced:
        """Both selections, on the training input."""
        candidates = {it.label: it for it in make_candidates(self._plans, self._next_allocators())}
        hinted = [label for label, it in candidates.items() if it.variant.strategy == HINTS]
        others = [it for label, it in candidates.items() if label not in hinted]
        final: dict[str, list[Trial]] = {}

        def measure_heat(labels: Sequence[str], heat: Heat) -> Samples:
            configs = [self._config(self._jobs[0], candidates[it]) for it in (*labels, *hinted)]
            found = {
                label: [Trial(wall=it, user=0, system=0, peak_memory=0) for it in times]
                for label, times in measure(configs, heat.rounds).items()
            }
            if heat.final:
                for label, samples in found.items():
                    final.setdefault(label, []).extend(samples)
            return {label: found[label] for label in labels}

        field = field_of(others)
        pace = Pace(final_runs=trials * (len(field.controls) + FINALISTS))
        without = race(measure_heat, field, pace).verdict
        kept = judge(final, field.controls, bounds=BOUNDS).kept if final else without.kept
        training = {label: [it.wall for it in samples] for label, samples in final.items()}
        return Raced(kept, without.kept, training)

    def clock(self, kept: Sequence[str], trials: int) -> Times:
        """Seconds of these labels and of the baseline allocators, on the reference input."""
        candidates = [it for one in baseline_allocators() for it in self._over(one)]
        chosen = {it.label: it for it in candidates}
        configs = [self._config(self._jobs[1], chosen[label]) for label in kept]
        return measure([*self._alone(self._jobs[1]), *configs], trials)

    def _over(self, allocator: Allocator) -> Sequence[Candidate]:
        return make_candidates(self._plans, [allocator])

    def _next_allocators(self) -> list[Allocator]:
        times = measure(self._alone(self._jobs[0]), FEW_ROUNDS)
        middles = {it: statistics.median(times[it.name]) for it in baseline_allocators()}
        ranked = sorted(middles, key=middles.__getitem__)
        return [it for it in ranked if middles[it] <= NEAR * middles[ranked[0]]]

    def _alone(self, job: Job) -> list[Configuration]:
        plain = [self._over(it)[0] for it in baseline_allocators()]
        configs = [self._config(job, it) for it in plain]
        return [
            replace(one, label=it.allocator.name) for one, it in zip(configs, plain, strict=True)
        ]

    def _config(self, job: Job, one: Candidate) -> Configuration:
        around = {**self._settings.environment, **self._variables}
        chosen = one.config(around, self._settings.runtime, one.label)
        return Configuration(one.label, [job.target.path, *job.arguments], chosen.environment)


def read_planned(folder: Path) -> Planned:
    return msgspec.json.decode((folder / PLANNED).read_bytes(), type=Planned)


def read_raced(folder: Path) -> Raced:
    return msgspec.json.decode((folder / RACED).read_bytes(), type=Raced)


def table(folder: Path, names: Sequence[str]) -> bool:
    """Prints a row for each program; whether no selection is slower with hints."""
    met = True
    print(
        "| Program | rules | kept without hints | kept with hints | ratio | over the best of four"
        " | recording, s | analysis, s | analysis, MB at most |"
    )
    print("| --- | ---: | --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for name in names:
        cost = read_planned(folder / name)
        kept = ["-", "the same", "1", "-"]
        if cost.rules:
            found = read_raced(folder / name)
            kept[0] = found.kept_without
            if found.differ:
                times = msgspec.json.decode((folder / name / MEASURED).read_bytes(), type=Times)
                offered = found.offered(times)
                kept[1:] = found.kept, said(offered), said(found.over_best(times))
                met &= offered.low >= MIN_RATIO
        figures = ["-", "-", "-"]
        if cost.with_contents is not None and cost.planned is not None:
            recording = f"{cost.recorded.seconds:.0f} → {cost.with_contents.seconds:.0f}"
            size = f"{cost.planned.peak_bytes / 1e6:.0f}"
            figures = [recording, f"{cost.planned.seconds:.0f}", size]
        print(f"| {name} | {' | '.join([str(cost.rules), *kept, *figures])} |")
    print("\n| Program without rules | why |\n| --- | --- |")
    for name in names:
        if why := read_planned(folder / name).why_none:
            print(f"| {name} | {why} |")
    return met


def said(one: Ratio) -> str:
    return f"{one.value:.3f} ({one.low:.3f}-{one.high:.3f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("plan", "race", "clock", "table"))
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--trials", type=int, default=11, help="on the reference input")
    parser.add_argument("--smaller", action="store_true", help="record smaller inputs")
    given = parser.parse_args()
    settings = read_settings()
    names = given.names or [bundled.name for bundled in list_plain(settings)]
    if given.what == "table":
        return 0 if table(given.folder, names) else 1
    for name in names:
        folder = given.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        if given.what == "plan" and not (folder / PLANNED).is_file():
            write_json(plan_program(settings, name, folder, given.smaller), folder / PLANNED)
            print(f"{name}: {read_planned(folder).rules} rules", flush=True)
        if given.what == "race" and read_planned(folder).rules and not (folder / RACED).is_file():
            write_json(Program(settings, name, folder).race(given.trials), folder / RACED)
            print(f"{name}: raced", flush=True)
        if given.what == "clock" and read_planned(folder).rules:
            raced, file = read_raced(folder), folder / MEASURED
            if raced.differ and not file.is_file():
                kept = (raced.kept, raced.kept_without)
                write_json(Program(settings, name, folder).clock(kept, given.trials), file)
                print(f"{name}: measured", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
