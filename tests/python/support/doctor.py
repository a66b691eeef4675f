"""Programs for the doctor, and its findings in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from halo.base.settings import read_settings
from halo.binary.process.target import locate_target
from halo.ship.doctor import Case, Finding, Weight, examine_program
from support.command import BUILD, compile_c

ALLOCATES = """
#include <stdlib.h>
int main(void) { char *volatile p = malloc(40); p[0] = 1; free(p); return 0; }
"""
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
JEMALLOC = LIBRARIES / "libjemalloc.so.2"


def examine(
    program: Path | str,
    environment: Mapping[str, str] | None = None,
    build: Path = BUILD,
    plan: Path | None = None,
    arguments: tuple[str, ...] = (),
) -> list[Finding]:
    settings = read_settings()
    plain = {k: v for k, v in settings.environment.items() if k not in ("LD_PRELOAD", "LD_AUDIT")}
    settings = replace(settings, build=build, environment={**plain, **(environment or {})})
    target = locate_target(str(program), settings.environment)
    return list(examine_program(settings, Case(target, arguments, plan=plan)))


def unusual(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(f.what, f.weight.value) for f in findings if f.weight is not Weight.FINE]


def the(findings: list[Finding], what: str) -> Finding:
    """The one finding of that name; any that is not fine needs a remedy."""
    (found,) = [finding for finding in findings if finding.what == what]
    assert found.weight is Weight.FINE or found.way_out
    assert not found.sentence.endswith(".")
    return found


def library(folder: Path, name: str, source: str, *flags: str) -> Path:
    output = folder / f"lib{name}.so"
    return compile_c(source, output, "-shared", "-fPIC", f"-Wl,-soname,{output.name}", *flags)


def needing(*libraries: Path) -> str:
    """The option that links with these libraries, whether or not they are used."""
    return ",".join(["-Wl,--no-as-needed", *map(str, libraries)])


def linked(folder: Path, name: str, source: str, *libraries: Path) -> Path:
    """A program that needs these libraries."""
    return compile_c(source, folder / name, needing(*libraries), f"-Wl,-rpath,{folder}")
