"""Builds programs of `bench` into a folder of the build, by a given compiler."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from halo.base.settings import Settings


@dataclass(frozen=True)
class Compilers:
    """A C and a C++ compiler of one family."""

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
    settings: Settings,
    compilers: Compilers,
    folder: Path,
    variant: Path | None = None,
    flags: Sequence[str] = (),
) -> Path:
    """The program of the sources in `folder`, optimised and with debug information.

    For a variant, files in `variant/NAME` replace those of the same name in `folder`. `flags` are
    of the compiler, too.
    """
    name = folder.name if variant is None else variant.name
    into = settings.build / "traced" / compilers.name / name
    into.mkdir(parents=True, exist_ok=True)
    includes = [folder.parent, settings.bench]
    places = [settings.bench / "common/args.c", *folder.iterdir()]
    if variant is not None:
        includes.insert(0, variant)
        places += (variant / folder.name).iterdir()
    sources = {path.name: path for path in places if path.suffix in (".c", ".cc")}
    options = ["-O2", "-g", *flags, *(f"-I{path}" for path in includes)]
    objects = []
    for source in sources.values():
        objects.append(str(into / f"{source.name}.o"))
        call([*compilers.of(source), *options, "-c", str(source), "-o", objects[-1]])
    program = into / name
    call([compilers.cxx, "-pthread", *objects, "-o", str(program)])
    return program


def call(command: Sequence[str]) -> None:
    """Runs a compiler; a failure ends this program."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
