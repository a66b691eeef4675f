"""Measures the waste of groups at their peak, and the growth of a server's memory.

waste.py [NAME...] [--plan-strategy S]   bundled programs (all but variants) under plans that group
waste.py --server-hour                   the workload `server`, as many requests as an hour brings

Waste is resident minus live memory, at the peak of the group's resident memory. The runtime's
report is compared with the kernel's count for the same addresses. Ends with status 1 if a threshold
is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.shared.halo_runs import grouped, run_halo
from bench.studies.arena_memory import Watch, watch
from halo.base.settings import Settings, read_settings
from halo.measure.bundled import Bundled, find_bundled, list_plain, prepare
from halo.measure.candidates import make_plans
from halo.measure.deep.choice import choose_variants
from halo.measure.runs.job import Job
from halo.plan.runtimes import runtime_of
from halo.record.profile import read_profile

STRATEGIES = ("halo", "dense", "one-pool", "dense-by-size")
MAX_WASTE = 0.10  # of live bytes
WASTE_ALLOWED = 256 << 10  # bytes of a group, if that is more
MAX_UNSEEN = 0.02  # of the groups' peaks: resident by the kernel's count, but not by the runtime's
UNSEEN_ALLOWED = 256 << 10
REQUESTS_A_SECOND = 2_000
HOUR = 3_600
MAX_GROWTH = 1.02  # the last quarter's maximum over the second quarter's
INTERVAL = 0.02
MB = 1e6


@dataclass(frozen=True)
class GroupWaste:
    """A group at its peak, in bytes."""

    group: int
    resident: int
    live: int

    @property
    def waste(self) -> int:
        return self.resident - self.live

    @property
    def allowed(self) -> float:
        return max(MAX_WASTE * self.live, WASTE_ALLOWED)

    @property
    def met(self) -> bool:
        return self.waste <= self.allowed


@dataclass(frozen=True)
class Result:
    """One program under one plan; `sampled` is the maximum of the kernel's count of the range."""

    program: str
    plan: str
    allocations: int
    groups: tuple[GroupWaste, ...]
    sampled: int

    @property
    def resident(self) -> int:
        return sum(group.resident for group in self.groups)

    @property
    def unseen(self) -> int:
        return max(0, self.sampled - self.resident)

    @property
    def seen(self) -> bool:
        """Whether the kernel's count is within the sum of the groups' peaks, its upper bound."""
        return self.unseen <= max(MAX_UNSEEN * self.resident, UNSEEN_ALLOWED)

    @property
    def met(self) -> bool:
        return self.allocations > 0 and self.seen and all(group.met for group in self.groups)

    @property
    def worst(self) -> GroupWaste:
        return max(self.groups, key=lambda group: group.waste / group.allowed)


@dataclass(frozen=True)
class Hour:
    """The server's resident memory over its run; bytes."""

    plan: str
    allocations: int
    second_quarter: int
    last_quarter: int
    range_second_quarter: int
    range_last_quarter: int

    @property
    def growth(self) -> float:
        return self.last_quarter / self.second_quarter if self.second_quarter else float("inf")

    @property
    def met(self) -> bool:
        return self.allocations > 0 and self.growth <= MAX_GROWTH


def planned_run(
    settings: Settings, program: Bundled, job: Job, plan: Path, stats: Path
) -> tuple[Mapping[str, Any], Watch]:
    environment = {
        **os.environ,
        **program.env,
        "LD_PRELOAD": str(runtime_of(settings.runtime, plan)),
        "HALO_PLAN": str(plan),
        "HALO_STATS": str(stats),
    }
    command = [str(job.target.path), *job.arguments]
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=job.stdin.open("rb") if job.stdin else subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    seen = watch(process, INTERVAL)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with status {process.returncode} under {plan.name}")
    return json.loads(stats.read_text()), seen


def plans_for(
    settings: Settings, program: Bundled, strategies: Sequence[str], folder: Path
) -> list[tuple[str, Path]]:
    """A distinct plan for each strategy with groups."""
    job, _ = prepare(settings, program)
    profile = folder / "program.profile"
    run_halo(
        "record", "-o", str(profile), "--", str(job.target.path), *job.arguments, env=program.env
    )
    variants = [variant for variant in choose_variants(strategies) if variant.label in strategies]
    made = make_plans(read_profile(profile), variants, folder)
    return [(variant.label, path) for variant, path, _ in made]


def measure(
    settings: Settings, program: Bundled, tiny: bool, strategies: Sequence[str], folder: Path
) -> list[Result]:
    train, reference = prepare(settings, program)
    results = []
    for label, plan in plans_for(settings, program, strategies, folder):
        job = train if tiny else reference
        stats, seen = planned_run(settings, program, job, plan, folder / "stats")
        groups = [
            GroupWaste(at, group["peak_resident_bytes"], group["live_at_peak_bytes"])
            for at, group in enumerate([*stats["groups"], stats["shared"]])
            if group["peak_resident_bytes"]
        ]
        results.append(Result(program.name, label, grouped(stats), tuple(groups), seen.peak(stats)))
        print(result_line(results[-1]), flush=True)
    return results


def result_line(result: Result) -> str:
    start = f"{result.program}, {result.plan}: {result.allocations:,} allocations"
    if not result.groups:
        return f"{start}: MISSED, nothing was grouped"
    worst = result.worst
    verdict = "met" if result.met else "MISSED"
    unseen = "" if result.seen else f"; {result.unseen / MB:.2f} MB resident that no group counts"
    return (
        f"{start} in {len(result.groups)} groups, {result.resident / MB:.2f} MB at their peaks"
        f" (the kernel: {result.sampled / MB:.2f} at once); worst waste {worst.waste / MB:.3f} MB"
        f" of group {worst.group}, {worst.live / MB:.2f} MB live,"
        f" {worst.allowed / MB:.3f} allowed{unseen}: {verdict}"
    )


def hour_job(settings: Settings, program: Bundled, requests: int) -> Job:
    """The reference job with another number of requests, its first argument."""
    _, reference = prepare(settings, program)
    return Job(reference.target, (str(requests), *reference.arguments[1:]))


def quarter_max(values: Sequence[int], quarter: int) -> int:
    """The largest value in a quarter (0 to 3) of the run."""
    part = values[quarter * len(values) // 4 : (quarter + 1) * len(values) // 4]
    return max(part, default=0)


def server_hour(
    settings: Settings, requests: int, strategies: Sequence[str], folder: Path
) -> list[Hour]:
    program = find_bundled(settings, "server")
    job = hour_job(settings, program, requests)
    found = []
    for label, plan in plans_for(settings, program, strategies, folder):
        stats, seen = planned_run(settings, program, job, plan, folder / "stats")
        addresses = seen.addresses(stats)
        whole = [sample.resident for sample in seen.samples]
        inside = [sample.inside(addresses) for sample in seen.samples]
        maximum = [quarter_max(values, at) for values in (whole, inside) for at in (1, 3)]
        found.append(Hour(label, grouped(stats), *maximum))
        print(hour_line(found[-1], requests), flush=True)
    return found


def hour_line(hour: Hour, requests: int) -> str:
    return (
        f"server, {hour.plan}: {requests:,} requests, {hour.allocations:,} allocations from groups;"
        f" resident at most {hour.second_quarter / MB:.2f} MB in the second quarter,"
        f" {hour.last_quarter / MB:.2f} in the last ({hour.growth:.3f} times);"
        f" of the groups {hour.range_second_quarter / MB:.2f} and"
        f" {hour.range_last_quarter / MB:.2f}: {'met' if hour.met else 'MISSED'}"
    )


def as_data(results: Sequence[Result | Hour]) -> list[dict[str, Any]]:
    return [{**asdict(result), "met": result.met} for result in results]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", metavar="NAME")
    parser.add_argument("--plan-strategy", action="append", choices=STRATEGIES, metavar="S")
    parser.add_argument("--server-hour", action="store_true")
    parser.add_argument("--requests", type=int, default=HOUR * REQUESTS_A_SECOND)
    parser.add_argument("--train", action="store_true", help="on the training inputs: quicker")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    settings = read_settings()
    strategies = options.plan_strategy or STRATEGIES
    names = options.programs or [program.name for program in list_plain(settings)]
    found: list[Result | Hour] = []
    with tempfile.TemporaryDirectory(prefix="halo-waste-") as name:
        if options.server_hour:
            found += server_hour(settings, options.requests, strategies, Path(name))
        else:
            for program in names:
                folder = Path(name) / program
                folder.mkdir()
                bundled = find_bundled(settings, program)
                found += measure(settings, bundled, options.train, strategies, folder)
    if options.json:
        options.json.write_text(json.dumps(as_data(found), indent=2) + "\n")
    return 0 if found and all(result.met for result in found) else 1


if __name__ == "__main__":
    sys.exit(main())
