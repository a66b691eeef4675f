"""A program that works before and after some mischief, and how tests call it under the runtime."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from halo.plan import Plan, read_plan, write_plan
from support.command import REPOSITORY
from support.planned import RUNTIME, Run, compile_program, make_plan, run_planned

SOURCES = REPOSITORY / "tests" / "programs" / "failure"
COUNT = 12000  # blocks of 104 bytes on average in the phase before; twice as many come after


@dataclass(frozen=True)
class Outcome:
    """What the program said of itself."""

    status: int
    stderr: str
    before: int  # grouped blocks before the mischief
    after: int
    refused: int
    peak: int  # KiB resident; -1: not known
    huge: int  # blocks in mappings for huge pages; -1: not asked

    @property
    def fine(self) -> bool:
        return self.status == 0 and not self.stderr


def outcome_of(status: int, stdout: str, stderr: str) -> Outcome:
    found = re.fullmatch(r"fine (\d+) (\d+) (\d+) (-?\d+) (-?\d+)\n", stdout)
    assert found is not None, (status, stdout, stderr)
    return Outcome(status, stderr, *(int(number) for number in found.groups()))


@dataclass(frozen=True)
class Steady:
    """The program, its plan, and the two libraries that may follow the runtime."""

    program: Path
    plan: Path
    failing: Path
    refusing: Path

    def run(
        self,
        *mischief: object,
        plan: Path | None = None,
        count: int = COUNT,
        library: Path | None = None,
        env: Mapping[str, str] | None = None,
        limit: Callable[[], None] | None = None,
    ) -> Run:
        preload = f"{RUNTIME}:{library}" if library else str(RUNTIME)
        return run_planned(
            [str(self.program), str(count), *(str(word) for word in mischief)],
            plan or self.plan,
            env={"LD_PRELOAD": preload, **(env or {})},
            preexec_fn=limit,
        )

    def outcome(self, *mischief: object, **more: object) -> Outcome:
        run = self.run(*mischief, **more)  # type: ignore[arg-type]
        return outcome_of(run.status, run.stdout, run.stderr)

    def alone(self, count: int = COUNT, limit: Callable[[], None] | None = None) -> Run:
        """Without the runtime."""
        done = subprocess.run(
            [self.program, str(count)],
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=limit,
        )
        return Run(done.returncode, done.stdout, done.stderr, {})


def make_steady(folder: Path) -> Steady:
    """Compiles the program and the libraries, and plans for all of its contexts."""

    def source(name: str) -> str:
        return (SOURCES / f"{name}.c").read_text()

    program = compile_program(folder, source("steady"), "-pthread")
    libraries = [
        compile_program(folder, source(name), "-shared", "-fPIC", name=f"{name}.so")
        for name in ("failing", "refusing")
    ]
    plan = make_plan(folder, [str(program), "300"], "per-site", "--option", "coverage=1")
    return Steady(program, plan, *libraries)


def changed(steady: Steady, folder: Path, change: Callable[[Plan], Plan]) -> Path:
    path = folder / "changed.plan"
    write_plan(change(read_plan(steady.plan)), path)
    return path
