"""Builds programs of `bench` into a folder of the build, by whichever compiler is to be used."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from halo.settings import Settings


@dataclass(frozen=True)
class Compilers:
    """Of one make: its C and its C++ compiler."""

    name: str
    c: str
    cxx: str

    def of(self, source: Path) -> list[str]:
        return [self.c, "-std=gnu17"] if source.suffix == ".c" else [self.cxx, "-std=gnu++20"]


GCC = Compilers("gcc", "gcc", "g++")
CLANG = Compilers("clang", "clang-19", "clang++-19")


def wrappers(settings: Settings) -> Compilers:
    """The compiler wrappers whose programs can be traced."""
    folder = settings.repository / "bin"
    found = Compilers("traced", str(folder / "halo-cc"), str(folder / "halo-c++"))
    for path in (found.c, found.cxx):
        if not Path(path).is_file():
            sys.exit(f"{path} is not built; run: make build")
    return found


def build(
    settings: Settings, compilers: Compilers, folder: Path, includes: Sequence[Path] = ()
) -> Path:
    """The program of the sources in `folder`, optimised and with debug information."""
    into = settings.build / "traced" / compilers.name / folder.name
    into.mkdir(parents=True, exist_ok=True)
    sources = sorted(path for path in folder.iterdir() if path.suffix in (".c", ".cc"))
    found = [f"-I{path}" for path in (*includes, settings.bench)]
    objects = [into / f"{source.name}.o" for source in (*sources, settings.bench / "common/args.c")]
    for source, made in zip((*sources, settings.bench / "common/args.c"), objects, strict=True):
        call([*compilers.of(source), "-O2", "-g", *found, "-c", str(source), "-o", str(made)])
    program = into / folder.name
    call([compilers.cxx, "-pthread", *map(str, objects), "-o", str(program)])
    return program


def call(command: Sequence[str]) -> None:
    """Runs a compiler, which has no reason to fail."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
