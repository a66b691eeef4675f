"""Counts what the fast paths of libhalo.so execute, and compares it with the golden file.

Run by scripts/golden.sh, with the build folder and perhaps `--update`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from elftools.elf.elffile import ELFFile

GOLDEN = Path(__file__).with_suffix(".toml")
RENEW = "scripts/golden.sh --update"
TOLERANCE = 0.2
"""By what share a count may grow, or by 2, where the compiler is not the golden file's."""


class Cost(NamedTuple):
    """Of one operation, inside libhalo.so alone."""

    instructions: int
    loads: int
    stores: int
    branches: int


class Counted(NamedTuple):
    """What the counter saw of one path: how many operations had which cost."""

    path: str
    times: int
    cost: Cost


class Golden(NamedTuple):
    """The costs of each path, and the compiler whose code has them."""

    compiler: str
    costs: dict[str, Cost]


class Unsteady(Exception):
    """Operations of one path differ from each other, so that it has no one cost."""


def run_counted(
    build: Path, folder: Path, *arguments: str, env: Mapping[str, str] | None = None
) -> tuple[list[Counted], str]:
    """Runs the counted program; its counts and what it printed."""
    counts = folder / "counts"
    variables = [f"{name}={value}" for name, value in (env or {}).items()]
    done = subprocess.run(
        [
            *(str(build / "bin" / "golden-counter"), str(counts)),
            *("env", *variables, str(build / "bin" / "golden-fast-paths"), *arguments),
        ],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
    )
    rows = [line.split() for line in counts.read_text().splitlines()]
    return [Counted(row[0], int(row[1]), Cost(*map(int, row[2:]))) for row in rows], done.stdout


class Run(NamedTuple):
    """Of the program under the runtime; `stats` is what HALO_STATS wrote, if it was asked to."""

    counted: list[Counted]
    stdout: str
    stats: dict[str, object]


def run_fast_paths(build: Path, with_stats: bool = False) -> Run:
    """Takes every fast path under libhalo.so and the program's own plan.

    Statistics make the runtime count its walks, so they cost a few instructions.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan, stats = folder / "golden.plan", folder / "stats"
        program = build / "bin" / "golden-fast-paths"
        subprocess.run([str(program), "--plan", str(plan)], check=True)
        env = {
            "LD_PRELOAD": str((build / "lib" / "libhalo.so").resolve()),
            "HALO_PLAN": str(plan),
            **({"HALO_STATS": str(stats)} if with_stats else {}),
        }
        counted, stdout = run_counted(build, folder, env=env)
        return Run(counted, stdout, json.loads(stats.read_text()) if with_stats else {})


def steady_costs(counted: Sequence[Counted]) -> dict[str, Cost]:
    """One cost a path; Unsteady where its operations differ."""
    costs = {one.path: one.cost for one in counted}
    if len(costs) != len(counted):
        several = [one for one in counted if one.cost != costs[one.path]]
        paths = {one.path for one in several}
        lines = [f"{c.path}: {c.times} times {tuple(c.cost)}" for c in counted if c.path in paths]
        raise Unsteady("operations of one path differ:\n" + "\n".join(lines))
    return costs


def compiler_of(library: Path) -> str:
    """The compilers that made the library, as they signed it."""
    with library.open("rb") as file:
        comment = ELFFile(file).get_section_by_name(".comment")
        data = b"" if comment is None else comment.data()
    return ", ".join(sorted({part.decode() for part in data.split(b"\0") if part}))


def measure(build: Path) -> Golden:
    """What the build's library costs now."""
    costs = steady_costs(run_fast_paths(build).counted)
    return Golden(compiler_of(build / "lib" / "libhalo.so"), costs)


def read_golden(path: Path = GOLDEN) -> Golden:
    document = tomllib.loads(path.read_text())
    return Golden(
        document["compiler"], {name: Cost(**cost) for name, cost in document["paths"].items()}
    )


def render(golden: Golden) -> str:
    """The text of the golden file."""
    lines = [
        "# What each fast path executes inside libhalo.so (docs/testing.md).",
        f"# Written by {RENEW}; not for editing.",
        f'compiler = "{golden.compiler}"',
        "",
        "[paths]",
    ]
    for path, cost in golden.costs.items():
        fields = ", ".join(f"{name} = {count}" for name, count in cost._asdict().items())
        lines.append(f"{path} = {{ {fields} }}")
    return "\n".join(lines) + "\n"


def differences(golden: Golden, now: Golden) -> list[str]:
    """What is not as the golden file has it, a line for each path.

    Under the same compiler every count must be the same. Another compiler's code may cost less, or
    a little more.
    """
    exact = golden.compiler == now.compiler
    lines = [f"{path}: not measured" for path in golden.costs.keys() - now.costs.keys()]
    lines += [f"{path}: not in the golden file" for path in now.costs.keys() - golden.costs.keys()]
    for path in golden.costs.keys() & now.costs.keys():
        changed = [
            f"{name} {before} → {after}"
            for name, before, after in zip(
                Cost._fields, golden.costs[path], now.costs[path], strict=True
            )
            if (before != after if exact else after > before + max(2, before * TOLERANCE))
        ]
        if changed:
            lines.append(f"{path}: {', '.join(changed)}")
    return sorted(lines)


def other_compiler(golden: Golden, now: Golden) -> str | None:
    """A sentence, if the counts are not another build of the same compiler's."""
    if golden.compiler == now.compiler:
        return None
    return (
        f"{GOLDEN.name} is of another compiler ({golden.compiler}) than libhalo.so"
        f" ({now.compiler}): counts may be up to {TOLERANCE:.0%}, or 2, larger"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/golden.sh", description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--update", action="store_true", help="write the golden file again")
    options = parser.parse_args()
    now = measure(options.build)
    if options.update:
        GOLDEN.write_text(render(now))
        return 0
    golden = read_golden()
    if sentence := other_compiler(golden, now):
        print(sentence, file=sys.stderr)
    lines = differences(golden, now)
    if lines:
        print("\n".join(lines))
        print(f"if that is meant to be: {RENEW}", file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
