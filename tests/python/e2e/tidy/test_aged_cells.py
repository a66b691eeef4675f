"""The variants of programs on heaps whose cells are littered with the hints of an earlier run."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from halo.base.schema.detection import CLASSES, FORMAT, VERSION, Detection
from support.command import BUILD

INPUTS = {
    "mesh": ["60", "60", "5000", "1"],
    "pagerank": ["2000", "9000", "2", "1"],
    "rbtree": ["5000", "5000", "100", "1"],
}


def run(name: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    program = name.partition("-")[0]
    return subprocess.run(
        [BUILD / "bench" / name, *INPUTS[program]],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )


def sizes_of(program: str, log: str) -> Detection:
    """The sizes of a log of hints (tidy_log.cc), as if all objects lived at once."""
    sizes = Counter(int(line.split()[1]) for line in log.splitlines())
    count, total = sizes.total(), sum(size * count for size, count in sizes.items())
    return Detection(
        format=FORMAT,
        version=VERSION,
        program=program,
        allocations=count,
        mean=total / count,
        minimum=min(sizes),
        maximum=max(sizes),
        max_live_allocations=count,
        bins=tuple(sizes[size] for size in range(CLASSES)),
        groups=(),
    )


def phases_of(printed: str) -> set[str]:
    """The names in the lines of bench/programs/common/phase.h."""
    return {line.split()[0] for line in printed.splitlines()}


def litter(name: str, folder: Path, occupancy: str) -> dict[str, str]:
    log, data = folder / "hints", folder / "cells.out"
    run(f"{name}-tidy-keys", {"HALO_BENCH_KEYS": str(log)})
    data.write_bytes(msgspec.json.encode(sizes_of(name, log.read_text())))
    return {
        "HALO_BENCH_PHASES": "",
        "HALO_BENCH_LITTER_DATA": str(data),
        "HALO_BENCH_LITTER_HINTS": str(log),
        "HALO_LITTER_OCCUPANCY": occupancy,
        "HALO_LITTER_MULTIPLIER": "1",
        "HALO_LITTER_SEED": "18446744073709551615",
    }


@pytest.mark.parametrize("name", INPUTS)
def test_a_variant_prints_the_same_on_aged_cells(name: str, tmp_path: Path) -> None:
    clean = run(f"{name}-tidy", {"HALO_BENCH_PHASES": ""})
    aged = run(f"{name}-tidy", litter(name, tmp_path, "0.5"))
    assert (aged.returncode, aged.stdout) == (0, clean.stdout)
    assert phases_of(clean.stderr) == {"traversal"}
    assert phases_of(aged.stderr) == {"littering", "traversal"}


def test_a_damaged_log_ends_the_program_with_a_sentence(tmp_path: Path) -> None:
    variables = litter("mesh", tmp_path, "0.5")
    (tmp_path / "hints").write_text("4096 40 x\n")
    aged = run("mesh-tidy", variables)
    assert aged.returncode == 3
    assert "is not a log of hints" in aged.stderr
    del variables["HALO_LITTER_SEED"]
    (tmp_path / "hints").write_text("4096 40 7\n")
    aged = run("mesh-tidy", variables)
    assert (aged.returncode, aged.stderr.splitlines()[0]) == (3, "HALO_LITTER_SEED: is not set")
