"""Races among plans, from recorded trials whose answers are known.

races.py record [--rounds N] FILE NAME...   runs all candidates of bundled programs N times each
races.py take FILE RESULTS...               takes the trials of `halo study eval compare` instead
races.py simulate [--races N] FILE          runs races on random rounds of these, and judges them

Every candidate has run in every round, so that no race has dropped any. `simulate` draws
rounds with replacement for each race (a bootstrap of rounds). The answer is known from all rounds:
medians of times relative to the round. A race is wrong if the kept plan is below 0.99 of the best
allocator alone. It misses a gain if a plan gains 5 % or more, and what is kept is 5 % or more
slower than the fastest plan. The exit status is 1 if more than 1 % of the races are wrong, or more
than 10 % of those with such a gain miss it.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import msgspec

from halo.base.files.atomic import write_json
from halo.base.schema.trial import Trial
from halo.base.settings import Settings, read_settings
from halo.binary.process.allocators import KNOWN
from halo.measure.bundled import find_bundled, prepare
from halo.measure.candidates import make_candidates, make_plans
from halo.measure.deep.choice import choose_variants
from halo.measure.findings import Findings
from halo.measure.inputs.unrecorded import check_program, time_allocators
from halo.measure.racing.budget import Budget
from halo.measure.racing.clock import processor
from halo.measure.racing.field import Arms
from halo.measure.racing.heats import Heat
from halo.measure.racing.race import pace_for, race
from halo.measure.reporter import Reporter
from halo.measure.run import field_of, next_allocators
from halo.measure.runs.machine import describe_machine
from halo.measure.runs.rounds import Samples, relative_times
from halo.measure.session import MeasurementOptions, Session
from halo.measure.stages import Rounds, measure, record
from halo.record.parts import Limits
from halo.report.results import read_measurement

ASKED = ("search", "confine", "conflict")  # candidates that need their own option
WRONG, MISSED = 0.99, 1.05
MAX_WRONG, MAX_MISSED = 0.01, 0.10


Row = tuple[float, float, float, float]
"""Seconds: wall-clock and processor time, and the main thread's running and delayed time."""


class Recorded(msgspec.Struct):
    """All rounds of one program: by label, the numbers of `row` of each round."""

    program: str
    controls: list[str]
    challengers: list[str]
    twins: dict[str, str]
    huge_page_users: list[str]
    trials: dict[str, list[Row]]

    def trial(self, label: str, number: int) -> Trial:
        wall, used, main, delayed = self.trials[label][number]
        return Trial(wall, used, 0.0, 0, main_processor=main, delayed=delayed)

    @property
    def field(self) -> Arms:
        return Arms(self.controls, self.challengers, self.twins, self.huge_page_users)

    @property
    def rounds(self) -> int:
        return min(len(each) for each in self.trials.values())


@dataclass
class Tally:
    """What the races of one program came to."""

    kept: dict[str, int] = field(default_factory=dict)
    wrong: int = 0
    missed: int = 0
    seconds: list[float] = field(default_factory=list)


def record_program(settings: Settings, name: str, rounds: int, folder: Path) -> Recorded:
    job, _ = prepare(settings, find_bundled(settings, name))
    options = MeasurementOptions(trials=7, results=folder, environment=settings.environment)
    findings = Findings(name, {}, describe_machine())
    variants = [one for one in choose_variants([]) if one.strategy not in ASKED]
    with Session(settings, options, findings, Reporter(name)) as session:
        check_program(session, [job])
        time_allocators(session, job)
        plans = make_plans(record(session, job, Limits()), variants, folder)
        candidates = make_candidates(plans, next_allocators(session))
        configs = [session.planned(one, one.label) for one in candidates]
        samples = measure(session, "all", job, configs, Rounds(rounds))
    field = field_of(candidates)
    return Recorded(
        name,
        list(field.controls),
        list(field.challengers),
        dict(field.twins),
        list(field.huge_page_users),
        {label: [row(trial) for trial in found] for label, found in samples.items()},
    )


def taken(path: Path) -> Recorded:
    """The trials on the training input of a results document of `halo study eval compare`.

    Its plans forward to one allocator, the control.
    """
    results = read_measurement(path).results
    trials = results.training
    control = results.summary.allocator
    if control is None or control not in trials:
        sys.exit(f"{path} has no trials of `halo study eval compare`")
    plans = [label for label in trials if label not in KNOWN]
    return Recorded(
        results.summary.program,
        [control],
        plans,
        {},
        [label for label in plans if any(trial.huge_bytes for trial in trials[label])],
        {label: [row(trial) for trial in trials[label]] for label in (control, *plans)},
    )


def row(trial: Trial) -> Row:
    return trial.wall, processor(trial), trial.main_processor, trial.delayed


def truth(program: Recorded) -> dict[str, float]:
    """By label, its time relative to the fastest control, from all rounds."""
    samples = {
        label: [program.trial(label, number) for number in range(program.rounds)]
        for label in program.trials
    }
    times = relative_times(samples)
    best = min(times[label] for label in program.controls)
    return {label: time / best for label, time in times.items()}


def run_race(program: Recorded, generator: random.Random) -> tuple[str, float]:
    """The label that a race on random rounds keeps, and the seconds that its runs take."""
    seconds = 0.0

    def draw(labels: Sequence[str], heat: Heat) -> Samples:
        nonlocal seconds
        drawn = [generator.randrange(program.rounds) for _ in range(heat.rounds)]
        found = {label: [program.trial(label, number) for number in drawn] for label in labels}
        seconds += sum(trial.wall for trials in found.values() for trial in trials)
        return found

    usual = median(row[0] for row in program.trials[program.controls[0]])
    pace = pace_for(Budget(usual).race_runs(usual), program.field)
    return race(draw, program.field, pace).verdict.kept, seconds


def simulate(programs: Sequence[Recorded], races: int) -> int:
    print("| Program | best plan | kept | wrong | missed | seconds of a race |")
    print("| --- | ---: | --- | ---: | ---: | ---: |")
    wrong = missed = with_gain = 0
    for program in programs:
        times, generator, tally = truth(program), random.Random(program.program), Tally()
        best = min(times.values())
        for _ in range(races):
            kept, seconds = run_race(program, generator)
            tally.kept[kept] = tally.kept.get(kept, 0) + 1
            tally.seconds.append(seconds)
            is_plan = kept not in program.controls
            tally.wrong += is_plan and 1 / times[kept] < WRONG
            tally.missed += 1 / best >= MISSED and times[kept] / best >= MISSED
        most = max(tally.kept, key=lambda label: tally.kept[label])
        print(
            f"| {program.program} | {1 / best:.3f} | {most} ({tally.kept[most]}) |"
            f" {tally.wrong} | {tally.missed} | {median(tally.seconds):.0f} |"
        )
        wrong += tally.wrong
        missed += tally.missed
        with_gain += races * (1 / best >= MISSED)
    total = races * len(programs)
    print(f"{wrong} of {total} races kept a slower plan; {missed} of {with_gain} missed a gain.")
    return int(wrong > MAX_WRONG * total or missed > MAX_MISSED * with_gain)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("record", "take", "simulate"))
    parser.add_argument("file", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--races", type=int, default=200)
    given = parser.parse_args()
    known = (
        msgspec.json.decode(given.file.read_bytes(), type=list[Recorded])
        if given.file.exists()
        else []
    )
    if given.action == "simulate":
        chosen = [one for one in known if not given.names or one.program in given.names]
        return simulate(chosen, given.races)
    if given.action == "take":
        write_json([taken(Path(name)) for name in given.names], given.file)
        return 0
    settings = read_settings()
    for name in given.names:
        with tempfile.TemporaryDirectory(prefix="halo-races-") as folder:
            found = record_program(settings, name, given.rounds, Path(folder))
        known = [one for one in known if one.program != name] + [found]
        write_json(known, given.file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
