"""The engine valgrind does not need the libraries of an installed Valgrind, and uses none."""

from __future__ import annotations

from pathlib import Path

from support.command import BUILD, compile_c, halo

ENVIRONMENT = """
#include <stdio.h>
extern char **environ;
int main(void) {
  for (char **entry = environ; *entry; entry++) puts(*entry);
}
"""


def test_a_recorded_program_gets_the_library_beside_the_engine(tmp_path: Path) -> None:
    compile_c(ENVIRONMENT, tmp_path / "prog")
    outcome = halo(
        *("record", "--engine", "valgrind", "-o", "a.profile", "--", "./prog"),
        cwd=tmp_path,
        env={"VALGRIND_LIB": "/nowhere", "LD_PRELOAD": ""},
    )
    assert (outcome.status, outcome.stderr.count("ERROR")) == (0, 0)
    lines = outcome.stdout.splitlines()
    assert "VALGRIND_LIB=/nowhere" in lines  # the program's own, left to it
    (preloaded,) = (line for line in lines if line.startswith("LD_PRELOAD="))
    core = f"{BUILD}/lib/valgrind/vgpreload_core-amd64-linux.so"
    assert preloaded == f"LD_PRELOAD={core}:{BUILD}/lib/libhalo-guest.so"
