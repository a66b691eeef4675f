"""Calls the real command as a subprocess, for tests of its output."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from support.prepared import can_prepare, run_prepared

REPOSITORY = Path(__file__).resolve().parents[3]
SECONDS = 300  # that a command may take
LOADER = "/lib64/ld-linux-x86-64.so.2"  # of the x86-64 ABI
BUILD = Path(os.environ.get("HALO_BUILD") or REPOSITORY / "build").absolute()


@dataclass(frozen=True)
class Outcome:
    """The result of a call; negative statuses are signals."""

    status: int
    stdout: str
    stderr: str


def halo(
    *arguments: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    before: Sequence[str] = (),
    errors: str = "strict",
) -> Outcome:
    """Runs `halo ARGUMENTS`; `env` is put over the environment of the tests.

    `before`: the words of a command that runs it. `errors`: how its output is decoded then.
    """
    environment = {**os.environ, **(env or {})}
    if not before and can_prepare(environment):
        directory = (cwd or Path()).absolute()
        return Outcome(*run_prepared(arguments, directory, environment, stdin, SECONDS))
    done = subprocess.run(
        [*before, sys.executable, "-m", "halo", *arguments],
        cwd=cwd,
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        errors=errors,
        check=False,
        timeout=SECONDS,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def load_module(path: Path, name: str) -> ModuleType:
    """A Python file that is in no package, as the module `name`."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def compile_c(source: str, output: Path, *flags: str) -> Path:
    """Compiles a C program."""
    command = ["gcc", "-O1", "-g", "-x", "c", "-", "-o", str(output), *flags]
    subprocess.run(command, input=source, text=True, check=True, capture_output=True)
    return output


def make_compilers(folder: Path) -> None:
    """halo-cc and halo-c++ in `folder`, as scripts/build.sh makes them."""
    make = 'source scripts/launchers.sh && make_compilers "$0" ../build/lib'
    subprocess.run(["bash", "-c", make, folder], cwd=REPOSITORY, check=True)
