"""How far from the best is what `halo run` tells people to use: every configuration, measured.

regret.py run FOLDER [OPTIONS] [NAME...]   measures what FOLDER lacks
regret.py judge FOLDER                     a row for each, and the thresholds

`run` stores the answer of `halo run` for the reference input alone in FOLDER/NAME. Then it measures
all configurations on that input, interleaved: each allocator with each of its settings, and each
plan over the best allocator, the best one with a setting, and the one of the kept plan. After three
rounds, two in time slices, those that are certainly more than 5 % slower than the fastest leave. A
configuration that fails or prints something else is left out. Without names, all bundled programs
without variants.

The *regret* is the time of the fastest configuration over that of what is told to use, by the
clock that decides races: 1 for the fastest. The fastest of many is fast by chance, too, so `judge`
also shows the part that is certain: what the fastest gains less two standard errors. *Memory* is
the peak over the least one of those that take at most 2 % more time than the fastest. The exit
status of `judge` is 1 if a threshold is missed.
"""

from __future__ import annotations

import argparse
import math
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import median

import msgspec

from halo.base.files.atomic import write_json
from halo.base.schema.summary import Summary
from halo.base.schema.trial import Trial
from halo.base.settings import Settings, read_settings
from halo.binary.process.allocator_settings import Needs, has_huge_pages, known_settings
from halo.binary.process.allocators import Allocator, find_allocator
from halo.measure.bundled import find_bundled, list_plain, prepare_all
from halo.measure.candidates import NONE, Candidate, PlanVariant
from halo.measure.deep.choice import VARIANTS
from halo.measure.findings import Findings
from halo.measure.inputs.unrecorded import check_program
from halo.measure.placement import Answer
from halo.measure.racing.gains import (
    HALO,
    Objective,
    fastest_of,
    gain_of,
    near_fastest,
    peak_memory,
)
from halo.measure.reporter import Reporter
from halo.measure.runs.job import Configuration, Job, option_words
from halo.measure.runs.machine import describe_machine
from halo.measure.session import MeasurementOptions, Session
from halo.measure.stages import Rounds, measure
from halo.plan import read_plan
from halo.report.results import read_measurement

ALL, SECONDS = "all.json", "seconds"  # in the folder of a program
SCREENING, IN_SLICES = 3, 2  # rounds of all configurations
REACH = 0.95  # times as fast as the fastest
GOOD, SHARE, WORST, PLAIN = 0.98, 0.95, 0.95, 0.99  # the thresholds
MAX_UNTOLD = 0.10
MEMORY = 1.01  # times the least peak memory: less is noise
ENOUGH = (180.0, 40.0)  # seconds, or times the program's own time


class Everything(msgspec.Struct):
    """The configurations of a program: all, when they were screened, and `trials` of those left.

    `used` is what is told to use, `native` what runs today.
    """

    used: str
    native: str
    plain: Sequence[str]
    screened: Mapping[str, Sequence[Trial]]
    trials: Mapping[str, Sequence[Trial]]


def answer(settings: Settings, folder: Path, name: str, options: Sequence[str]) -> None:
    """Does what a person does with the reference input, and stores how long it took."""
    bundled = find_bundled(settings, name)
    job = prepare_all(settings, bundled).ref
    words = ["run", "--results", str(folder), *options, *option_words(job), "--", *job.command]
    began = time.monotonic()
    command = [sys.executable, "-m", "halo", *words]
    if subprocess.run(command, env=os.environ | bundled.env, check=False).returncode:
        sys.exit(f"halo {shlex.join(words)} failed")
    (folder / SECONDS).write_text(f"{time.monotonic() - began:.1f}\n")


def measure_all(
    settings: Settings, folder: Path, name: str, libraries: Sequence[str], rounds: int
) -> Everything:
    """All configurations on the reference input."""
    summary = read_measurement(folder).results.summary
    bundled = find_bundled(settings, name)
    job = prepare_all(settings, bundled).ref
    scratch = folder / "all"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    environment = {**settings.environment, **bundled.env}
    further = [find_allocator(it) for it in libraries]
    options = MeasurementOptions(
        trials=rounds, results=scratch, environment=environment, allocators=further
    )
    findings = Findings(name, {}, describe_machine())
    with Session(settings, options, findings, Reporter(name)) as session:
        check_program(session, [job])
        alone = {it.name: it for it in with_settings(session.allocators)}
        plain = [label for label in alone if alone[label].setting is None]
        answered = read_measurement(folder).results.trials.reference
        over = {best_of(answered, plain), best_of(answered, list(alone)), summary.allocator or ""}
        planned = [
            Candidate(
                variant, alone[label], path, any(it.huge_pages for it in read_plan(path).groups)
            )
            for variant, path in plans_of(summary, folder)
            for label in over & alone.keys()
        ]
        configs = [session.alone(alone[label]) for label in alone]
        configs += [session.planned(it, it.label) for it in planned]
        few = IN_SLICES if session.in_slices(job, configs) else SCREENING
        screened = run_all(session, job, configs, Rounds(few, 0))
        always = {used_in(summary), summary.native, best_of(screened, plain)}
        stays = always | set(within_reach(screened))
        configs = [it for it in configs if it.label in stays]
        trials = run_all(session, job, configs, Rounds(rounds))
    shutil.rmtree(scratch)
    plain = [label for label in plain if label in trials]
    return Everything(used_in(summary), summary.native, plain, screened, trials)


def within_reach(trials: Mapping[str, Sequence[Trial]]) -> list[str]:
    """Those that are not certainly slower than the fastest by more than REACH."""
    fastest = best_of(trials, list(trials))
    gains = {label: gain_of(trials, label, fastest) for label in trials}
    return [label for label, it in gains.items() if it.mean + 2 * it.error > math.log(REACH)]


def with_settings(allocators: Sequence[Allocator]) -> list[Allocator]:
    """Each allocator, and each with one of the settings that matter on this machine."""
    found = list(allocators)
    for allocator in allocators:
        known = known_settings(allocator.own or allocator.library)
        found += [
            allocator.under(it) for it in known if it.needs != Needs.HUGE_PAGES or has_huge_pages()
        ]
    return found


def plans_of(summary: Summary, folder: Path) -> list[tuple[PlanVariant, Path]]:
    """All plans that were raced."""
    labels = {it.label.partition(" over ")[0] for it in summary.candidates if it.strategy != NONE}
    return [(it, folder / f"{it.label}.plan") for it in VARIANTS if it.label in labels]


def run_all(
    session: Session, job: Job, configs: Sequence[Configuration], rounds: Rounds
) -> Mapping[str, Sequence[Trial]]:
    """The rounds, by label; without those that cannot run the program."""
    found = measure(session, f"all-{len(configs)}", job, configs, rounds)
    return {label: trials for label, trials in found.items() if trials}


def best_of(trials: Mapping[str, Sequence[Trial]], labels: Sequence[str]) -> str:
    """The fastest of these; the program's own allocator always has trials."""
    best = fastest_of(trials, labels)
    assert best is not None
    return best


def used_in(summary: Summary) -> str:
    """The label of what is told to use."""
    if summary.use == HALO:
        return f"{summary.candidate} over {summary.allocator}"
    return summary.use or summary.native


@dataclass(frozen=True)
class Row:
    """A program: what is told to use, and the fastest of all and of the plain allocators."""

    name: str
    objective: str
    answer: str
    seconds: float
    everything: Everything

    @property
    def best(self) -> str:
        return best_of(self.everything.trials, list(self.everything.trials))

    @property
    def regret(self) -> float:
        return 1 / self._gain(self.best)

    @property
    def certain(self) -> float:
        """The regret beyond what chance explains."""
        return 1 / max(1.0, self._gain(self.best, 2.0))

    @property
    def over_plain(self) -> float:
        """How many times as fast it is as the fastest allocator without a setting."""
        return 1 / self._gain(best_of(self.everything.trials, self.everything.plain))

    @property
    def memory(self) -> float:
        """Its peak memory over the least of those that are nearly the fastest."""
        trials = self.everything.trials
        least = min(peak_memory(trials[label]) for label in near_fastest(trials, list(trials)))
        return peak_memory(trials[self.everything.used]) / least

    @property
    def is_late(self) -> bool:
        seconds, factor = ENOUGH
        native = median(trial.wall for trial in self.everything.trials[self.everything.native])
        return self.seconds > max(seconds, factor * native)

    def _gain(self, label: str, less: float = 0.0) -> float:
        """How many times as fast that one is as what is used, less some standard errors."""
        gain = gain_of(self.everything.trials, label, self.everything.used)
        return math.exp(gain.mean - less * gain.error)


def read_rows(folder: Path) -> list[Row]:
    """Of the finished ones."""
    rows = []
    for path in sorted(folder.glob(f"*/{ALL}")):
        summary = read_measurement(path.parent).results.summary
        everything = msgspec.json.decode(path.read_bytes(), type=Everything)
        seconds = float((path.parent / SECONDS).read_text())
        answer = summary.verdict.answer
        rows.append(Row(path.parent.name, summary.objective, answer, seconds, everything))
    return rows


def judge(folder: Path) -> int:
    """Prints all rows; the number of bars that are missed."""
    rows = read_rows(folder)
    if not rows:
        sys.exit(f"{folder} has no finished measurement")
    columns = ("regret", "certain", "over plain", "memory", "seconds")
    print(f"| Program | used | answer | fastest | {' | '.join(columns)} | |")
    print(f"| --- | --- | --- | --- |{' ---: |' * len(columns)} --- |")
    for row in rows:
        print(
            f"| {row.name} | {row.everything.used} | {row.answer} | {row.best} |"
            f" {row.regret:.3f} | {row.certain:.3f} | {row.over_plain:.3f} | {row.memory:.3f} |"
            f" {row.seconds:.0f} | {'late' if row.is_late else ''} |"
        )
    number = len(rows)
    untold = sum(row.answer == Answer.CANNOT_TELL for row in rows)
    thresholds = {
        f"regret of {GOOD} or better": (sum(it.regret >= GOOD for it in rows), SHARE),
        f"regret of {WORST} or better": (sum(it.regret >= WORST for it in rows), 1.0),
        f"{PLAIN} of the plain allocators": (sum(it.over_plain >= PLAIN for it in rows), 1.0),
        "answer is told": (number - untold, 1 - MAX_UNTOLD),
        "in time": (sum(not row.is_late for row in rows), 1.0),
    }
    if any(row.objective == Objective.MEMORY for row in rows):
        least = sum(row.memory <= MEMORY for row in rows)
        thresholds["least peak memory of the fastest"] = (least, 1.0)
    for what, (count, share) in thresholds.items():
        print(f"{what}: {count} of {number} (at least {math.ceil(share * number)})")
    return int(any(count < share * number for count, share in thresholds.values()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("run", "judge"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--allocator", action="append", default=[], metavar="PATH")
    objectives = [each.value for each in Objective]
    parser.add_argument("--objective", choices=objectives, default=Objective.TIME.value)
    given = parser.parse_intermixed_args()
    if given.action == "judge":
        return judge(given.folder)
    settings = read_settings()
    options = ["--objective", given.objective]
    options += chain.from_iterable(("--allocator", library) for library in given.allocator)
    for name in given.names or [it.name for it in list_plain(settings)]:
        folder = given.folder / name
        if not (folder / SECONDS).exists():
            folder.mkdir(parents=True, exist_ok=True)
            answer(settings, folder, name, options)
        if not (folder / ALL).exists():
            found = measure_all(settings, folder, name, given.allocator, given.rounds)
            write_json(msgspec.to_builtins(found), folder / ALL)
        print(name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
