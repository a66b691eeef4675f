"""Runs real programs under plans that group as much as possible, and compares every result.

soak.py [--times N] [NAME...]

The cases are those of cases/cases.toml. Each is recorded on itself or on a smaller input, run
natively twice (it must be deterministic), and then N times under the plans, one after the other: a
group for each call site of malloc, one group for all recorded contexts, random groups, which need
the deepest walks, and one group for every object of any caller, in both page layouts. A case that
cannot be recorded (`recorded = false`) runs under plans for any program instead, which draw a pool
for every small object. Ends with status 1 if a result differs or if too few processes had objects
in the groups.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from halo.base.settings import Settings, read_settings
from halo.measure.candidates import PlanVariant
from halo.plan import Plan, PlanGroup, drawing_plan
from halo.plan.runtimes import runtime_of
from halo.plan.strategies.planning import make_plan, save_plan
from halo.record.profile import Profile, merge_parts

CASES = Path(__file__).parent / "cases" / "cases.toml"
LONGEST = 900  # seconds; a longer run counts as hanging
WORKING = 100  # minimum grouped allocations of a process that counts as working
VARIANTS = (
    PlanVariant("per-site", "per-site", {"coverage": "1", "max_groups": "4096"}),
    PlanVariant("dense", "dense"),
    PlanVariant("random", "random", {"coverage": "1", "groups": "64"}),
    PlanVariant("everything", "everything"),
    PlanVariant("everything-by-size", "everything", {"by_size": "true"}),
)


def drawn(pools: int, largest: int, by_size: bool) -> Plan:
    """A plan for any program that draws a pool for each object of at most `largest` bytes."""
    return drawing_plan([PlanGroup(False, 0, by_size)] * pools, largest, 16, None)


DRAWN: Mapping[str, Plan] = {
    "one-pool": drawn(1, 65536, False),
    "60-pools": drawn(60, 4096, False),
    "8-pools-by-size": drawn(8, 4096, True),
}


@dataclass(frozen=True)
class Case:
    """A program and its script; `processes` of a run at least must do their work in the groups.

    If `recorded` is false, every small object is drawn a pool.
    """

    name: str
    summary: str
    packages: tuple[str, ...]
    processes: int
    script: Path
    recorded: bool = True
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """The results that two runs must have in common."""

    status: int
    stdout: bytes
    files: Mapping[str, str]
    complaint: str = ""  # the end of the standard error: printed, not compared

    def difference(self, other: Result) -> str:
        """The first difference of the other result; empty if there is none."""
        if self.status != other.status:
            return f"status {other.status} instead of {self.status}: {other.complaint}"
        pairs = zip(self.stdout.splitlines(), other.stdout.splitlines(), strict=False)
        for number, (mine, others) in enumerate(pairs, 1):
            if mine != others:
                return f"line {number} of the output: {others!r} instead of {mine!r}"
        if self.stdout != other.stdout:
            return f"{len(other.stdout)} bytes of output instead of {len(self.stdout)}"
        for name in sorted({*self.files, *other.files}):
            if self.files.get(name) != other.files.get(name):
                return f"another {name}"
        return ""


@dataclass(frozen=True)
class Run:
    """One run under a plan: its seconds, its grouped allocations, and its problem, if any."""

    plan: str
    seconds: float
    allocations: int
    processes: int
    problem: str


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case; `problem` if it could not be run at all."""

    case: str
    native_seconds: float = 0.0
    runs: tuple[Run, ...] = ()
    problem: str = ""

    @property
    def met(self) -> bool:
        return not self.problem and not any(run.problem for run in self.runs)


class Failed(Exception):
    """A step of a case failed; the sentence names it."""


class Soak:
    """The execution of one case, in a separate folder."""

    def __init__(self, settings: Settings, case: Case, folder: Path) -> None:
        self.settings = settings
        self.case = case
        self.inputs = folder / "inputs"
        self.profiles = folder / "profiles"
        self.statistics = folder / "statistics"
        self.work = folder / "work"
        self.plans = folder / "plans"
        for place in (self.inputs, self.profiles, self.plans):
            place.mkdir()
        folder.chmod(0o755)  # a server that does not run as root reads its plan here

    def prepare(self) -> None:
        self._step("prepare", {})

    def make_plans(self, variants: Sequence[PlanVariant]) -> list[Path]:
        """Records the training and writes a plan of each variant, or plans that draw pools."""
        if not self.case.recorded:
            return [self._saved(plan, name) for name, plan in DRAWN.items()]
        self._step("train", {})
        parts = sorted(self.profiles.glob("*.profile"))
        if not parts:
            raise Failed("the training left no profile")
        profile = merge_parts(parts, self.case.name)
        return [self._plan(profile, variant) for variant in variants]

    def _plan(self, profile: Profile, variant: PlanVariant) -> Path:
        return self._saved(make_plan(profile, variant.strategy, variant.options), variant.label)

    def _saved(self, plan: Plan, name: str) -> Path:
        path = self.plans / f"{name}.plan"
        save_plan(plan, path)
        return path

    def run(self, environment: Mapping[str, str]) -> Result:
        """Runs the case in an empty folder, always the same one."""
        done = self._script("run", environment)
        complaints = [line for line in done.stderr.splitlines() if line.startswith(b"halo:")]
        if complaints:
            raise Failed(complaints[0].decode(errors="replace"))
        return Result(done.returncode, done.stdout, digests(self.work), last_lines(done.stderr))

    def reference(self) -> tuple[Result, float]:
        """The expected result of every run, and its seconds, without the runtime."""
        start = time.monotonic()
        expected = self.run({})
        seconds = time.monotonic() - start
        if expected.status:
            raise Failed(
                f"without the runtime, it ends with status {expected.status}: {expected.complaint}"
            )
        if changes := expected.difference(self.run({})):
            raise Failed(f"without the runtime, two runs differ: {changes}")
        return expected, seconds

    def planned(self, plan: Path, expected: Result) -> Run:
        """Runs under the plan; returns the grouped allocations and the problem, if any."""
        shutil.rmtree(self.statistics, ignore_errors=True)
        self.statistics.mkdir()
        self.statistics.chmod(0o777)
        start = time.monotonic()
        try:
            found = self.run(
                {
                    "LD_PRELOAD": str(runtime_of(self.settings.runtime, plan)),
                    "HALO_PLAN": str(plan),
                    "HALO_STATS": str(self.statistics / "%p.json"),
                }
            )
            problem = expected.difference(found)
        except Failed as failure:
            problem = str(failure)
        seconds = time.monotonic() - start
        counts = [n for n in map(grouped, self.statistics.iterdir()) if n >= WORKING]
        if not problem and len(counts) < self.case.processes:
            problem = (
                f"objects were grouped in {len(counts)} processes instead of {self.case.processes}"
            )
        return Run(plan.stem, seconds, sum(counts), len(counts), problem)

    def _step(self, step: str, environment: Mapping[str, str]) -> None:
        done = self._script(step, environment)
        if done.returncode:
            raise Failed(f"{step} ended with status {done.returncode}: {last_lines(done.stderr)}")

    def _script(
        self, step: str, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[bytes]:
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        command = ["bash", str(self.case.script), step]
        process = subprocess.Popen(
            command,
            cwd=self.work,
            env={
                **self.settings.environment,
                **self.case.env,
                "SOAK_INPUTS": str(self.inputs),
                "SOAK_PROFILES": str(self.profiles),
                "SOAK_PYTHON": sys.executable,
                "SOAK_REPOSITORY": str(self.settings.repository),
                **environment,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            stdout, stderr = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired as late:
            raise Failed(f"{step} was not done after {LONGEST} s") from late
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def last_lines(text: bytes) -> str:
    return " / ".join(text.decode(errors="replace").strip().splitlines()[-3:])


def digests(folder: Path) -> dict[str, str]:
    """The content of every file, by its path below the folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def grouped(path: Path) -> int:
    """Allocations from groups in one process; 0 if it was killed while reporting."""
    try:
        return sum(group["allocations"] for group in json.loads(path.read_text())["groups"])
    except ValueError:
        return 0


def soak(
    settings: Settings, case: Case, times: int, variants: Sequence[PlanVariant], folder: Path
) -> Outcome:
    missing = [name for name in case.packages if not installed(name)]
    if missing:
        return Outcome(case.name, problem=f"run: apt-get install {' '.join(missing)}")
    work = Soak(settings, case, folder)
    try:
        work.prepare()
        expected, seconds = work.reference()
        plans = work.make_plans(variants)
    except Failed as failure:
        return Outcome(case.name, problem=str(failure))
    runs: list[Run] = []
    for number in range(times):
        runs.append(work.planned(plans[number % len(plans)], expected))
        print(run_line(case, number, runs[-1]), flush=True)
    return Outcome(case.name, seconds, tuple(runs))


def installed(package: str) -> bool:
    command = ["dpkg-query", "--show", "--showformat=${db:Status-Status}", package]
    return subprocess.run(command, capture_output=True, text=True).stdout == "installed"


def run_line(case: Case, number: int, run: Run) -> str:
    return (
        f"  {case.name} {number + 1}, {run.plan}: {run.allocations:,} grouped allocations in"
        f" {run.processes} processes, {run.seconds:.1f} s: {run.problem or 'same'}"
    )


def outcome_line(outcome: Outcome) -> str:
    if outcome.problem:
        return f"{outcome.case}: FAILED: {outcome.problem}"
    wrong = [run for run in outcome.runs if run.problem]
    total = sum(run.allocations for run in outcome.runs)
    minimum = min((run.allocations for run in outcome.runs), default=0)
    verdict = f"{len(wrong)} FAILED, {wrong[0].problem}" if wrong else "all the same"
    return (
        f"{outcome.case}: {len(outcome.runs)} runs: {verdict}; {total:,} grouped allocations, at"
        f" least {minimum:,} a run; {outcome.native_seconds:.1f} s without the runtime"
    )


def read_cases(path: Path) -> dict[str, Case]:
    entries: list[dict[str, Any]] = tomllib.loads(path.read_text())["case"]
    cases = {}
    for entry in entries:
        entry["packages"] = tuple(entry["packages"])
        cases[entry["name"]] = Case(script=path.parent / f"{entry['name']}.sh", **entry)
    return cases


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="NAME")
    parser.add_argument("--times", type=int, default=10, help="runs under the plans")
    parser.add_argument(
        "--strategy", action="append", choices=[it.label for it in VARIANTS], help="repeatable"
    )
    parser.add_argument("--file", type=Path, default=CASES, help="other cases than those here")
    parser.add_argument("--list", action="store_true", help="name the cases")
    parser.add_argument("--json", type=Path, help="write the outcomes to this file")
    options = parser.parse_args()
    known = read_cases(options.file.absolute())
    if options.list:
        print("\n".join(f"{case.name}: {case.summary}" for case in known.values()))
        return 0
    if unknown := [name for name in options.cases if name not in known]:
        parser.error(f"there is no case {unknown[0]}; there are: {', '.join(known)}")
    settings = read_settings()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the running case, too
    outcomes = []
    for name in options.cases or known:
        variants = [it for it in VARIANTS if not options.strategy or it.label in options.strategy]
        with tempfile.TemporaryDirectory(prefix="halo-soak-") as folder:
            case = known[name]
            outcomes.append(soak(settings, case, options.times, variants, Path(folder)))
        print(outcome_line(outcomes[-1]), flush=True)
    if options.json:
        data = [{**asdict(outcome), "met": outcome.met} for outcome in outcomes]
        options.json.write_text(json.dumps(data, indent=2) + "\n")
    return 0 if all(outcome.met for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
