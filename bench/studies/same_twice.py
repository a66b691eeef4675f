"""How often a difference is claimed where there is none: one configuration under two names.

same_twice.py [--races N] [--rounds N] [--allocator NAME] -- PROG ARGS

Each race has the looks of an answer of `halo run`, until one claims that either name is faster, or
all rounds are measured. Prints the share of such races. The exit status is 1 if it is above 1 %.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from halo.base.schema.trial import Trial
from halo.base.settings import Settings, read_settings
from halo.binary.process.allocators import find_allocator
from halo.binary.process.target import find_target
from halo.measure.findings import Findings
from halo.measure.inputs.unrecorded import check_program
from halo.measure.racing.gains import gain_of, surely_faster
from halo.measure.racing.sequential import LOOKS
from halo.measure.reporter import Reporter
from halo.measure.runs.job import Configuration, Job
from halo.measure.runs.machine import describe_machine
from halo.measure.session import MeasurementOptions, Session
from halo.measure.stages import Rounds, measure

ONE, OTHER = "one", "other"
MAX_CLAIMED = 0.01


def claimed(trials: Mapping[str, Sequence[Trial]]) -> str:
    """The name that is said to be faster; empty if neither is."""
    pairs = ((ONE, OTHER), (OTHER, ONE))
    return next((mine for mine, its in pairs if surely_faster(trials, mine, its)), "")


def race(
    session: Session, job: Job, number: int, configs: Sequence[Configuration], most: int
) -> bool:
    """Whether a difference is claimed at any of the looks."""
    for rounds in (look for look in LOOKS if look <= most):
        trials = measure(session, f"race-{number}", job, configs, Rounds(rounds, 0))
        name = claimed(trials)
        if name:
            gain = gain_of(trials, ONE, OTHER)
            print(f"race {number}: {name} after {rounds} rounds, mean gain {gain.mean:+.4f}")
            return True
    return False


def run(settings: Settings, given: argparse.Namespace, folder: Path) -> int:
    """The number of races with a claim."""
    job = Job(find_target(given.command[0], settings.environment), tuple(given.command[1:]))
    options = MeasurementOptions(trials=0, results=folder, environment=settings.environment)
    findings = Findings(job.target.name, {}, describe_machine())
    with Session(settings, options, findings, Reporter(job.target.name)) as session:
        check_program(session, [job])
        alone = session.alone(find_allocator(given.allocator))
        configs = [replace(alone, label=label) for label in (ONE, OTHER)]
        races = range(1, given.races + 1)
        return sum(race(session, job, number, configs, given.rounds) for number in races)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--races", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=LOOKS[-2])
    parser.add_argument("--allocator", default="glibc")
    parser.add_argument("command", nargs="+", metavar="PROG ARGS")
    given = parser.parse_args()
    with TemporaryDirectory(prefix="halo-same-") as folder:
        found = run(read_settings(), given, Path(folder))
    print(f"{found} of {given.races} races claim a difference")
    return int(found > MAX_CLAIMED * given.races)


if __name__ == "__main__":
    sys.exit(main())
