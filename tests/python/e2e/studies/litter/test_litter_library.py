"""What the libraries that age heaps ask of the programs that load or link them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from support.command import BUILD, REPOSITORY
from support.littering import DETECTOR, HOSPITAL, LITTERER, detect, run

ALLOCATES = {"malloc", "calloc", "realloc", "free", "memalign", "posix_memalign", "aligned_alloc"}


def readelf(option: str, library: Path) -> str:
    return subprocess.run(
        ["readelf", option, "--wide", library], capture_output=True, text=True, check=True
    ).stdout


def symbols(library: Path, which: str) -> set[str]:
    command = ["nm", "-D", which, "--format=just-symbols", str(library)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {line.partition("@")[0] for line in text.splitlines()}


@pytest.mark.parametrize("library", [DETECTOR, LITTERER], ids=lambda it: it.name)
def test_preloaded_libraries_need_libc_alone(library: Path) -> None:
    """Nothing else may come into a program with them, nor thread-local storage made on demand."""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("--dynamic", library))
    assert set(needed) == {"libc.so.6", "ld-linux-x86-64.so.2"}
    assert "DTPMOD64" not in readelf("--relocs", library)


def test_the_detector_never_allocates() -> None:
    """It provides the functions of malloc.cc; what it forwards to, it looks up."""
    assert not symbols(DETECTOR, "--undefined-only") & ALLOCATES
    assert symbols(DETECTOR, "--defined-only") >= ALLOCATES


def test_the_litterer_takes_no_names_of_the_program() -> None:
    assert symbols(LITTERER, "--defined-only") == set()
    assert symbols(LITTERER, "--undefined-only") & ALLOCATES == {"malloc", "free"}


PROGRAM = r"""
#include <stdio.h>
#include <studies/litter/litter.h>
int main(int argc, char **argv) {
  struct halo_litter_settings settings = {argv[argc - 1], 0.5, 2, 1, 1, 0};
  struct halo_litter_report report;
  enum halo_litter_outcome outcome = halo_litter(&settings, &report);
  printf("%d %llu %llu %s\n", (int)outcome, (unsigned long long)report.objects,
         (unsigned long long)report.kept, report.problem);
  return outcome != HALO_LITTERED;
}
"""


@pytest.mark.parametrize(
    "language", [["gcc", "-std=c17", "-x", "c"], ["g++", "-std=c++17", "-x", "c++"]]
)
def test_programs_litter_by_themselves(tmp_path: Path, language: list[str]) -> None:
    strict = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-I", str(REPOSITORY / "src")]
    source = tmp_path / "prog.c"
    source.write_text(PROGRAM)
    program = tmp_path / "prog"
    parts = [*language, *strict, str(source), "-x", "none", "-L", str(BUILD / "lib")]
    subprocess.run([*parts, "-lhalo-litter", "-o", program], check=True)
    _, found = detect(HOSPITAL, tmp_path / "out")
    objects = 2 * found["max_live_allocations"]
    outcome = run([str(program), str(tmp_path / "out")])
    assert (outcome.status, outcome.stdout) == (0, f"0 {objects} {objects // 2} \n")
    outcome = run([str(program), "/nowhere"])
    expected = "1 0 0 /nowhere does not exist: run the detector first\n"
    assert (outcome.status, outcome.stdout) == (1, expected)
