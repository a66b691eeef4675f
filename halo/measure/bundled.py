"""The bundled programs of `halo bench`: our workloads and Debian's programs, from two data files.

In bench/programs, `workloads.toml` lists our own; `programs.toml` lists programs that Debian ships,
each with a generator of its inputs. `HALO_BENCH` names another folder with such files. A variant of
a program is measured only if it is named.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from halo.base.errors import BadInput, CannotRun, MissingPart, UsageError
from halo.base.settings import Settings
from halo.binary.process.target import find_target
from halo.measure.inputs.roles import Inputs
from halo.measure.runs.job import Job

_LISTS = ("train", "valid", "ref")


@dataclass(frozen=True)
class Bundled:
    """A program with inputs to record, to choose on, and to measure on.

    Without the second, `valid`, the last one, `ref`, is chosen on, too. `{inputs}` stands for its
    input folder.
    """

    name: str
    summary: str
    program: str
    train: tuple[str, ...]
    ref: tuple[str, ...]
    valid: tuple[str, ...] = ()
    train_stdin: str = ""
    valid_stdin: str = ""
    ref_stdin: str = ""
    package: str = ""
    generator: str = ""
    variant_of: str = ""
    env: Mapping[str, str] = field(default_factory=dict)


def list_bundled(settings: Settings) -> list[Bundled]:
    """The programs of both data files, workloads first, including variants."""
    folder = settings.bench
    found = [
        *_read(folder / "workloads.toml", "workload"),
        *_read(folder / "programs.toml", "program"),
    ]
    if not found:
        raise BadInput(f"{folder} lists no programs, in workloads.toml or programs.toml.")
    return found


def list_plain(settings: Settings) -> list[Bundled]:
    """The programs that `--all` means: all except variants."""
    return [bundled for bundled in list_bundled(settings) if not bundled.variant_of]


def find_bundled(settings: Settings, name: str) -> Bundled:
    known = list_bundled(settings)
    for bundled in known:
        if bundled.name == name:
            return bundled
    raise UsageError(
        f"The bundled program '{name}' does not exist; choose one of:"
        f" {', '.join(bundled.name for bundled in known)}."
    )


def _read(path: Path, key: str) -> list[Bundled]:
    try:
        data = tomllib.loads(path.read_text())
    except FileNotFoundError:
        return []
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}.") from error
    entries = data.get(key, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BadInput(f"{path} has a {key} that is not a separate entry: write [[{key}]].")
    return [_bundled(entry, path) for entry in entries]


def _bundled(entry: Mapping[str, Any], path: Path) -> Bundled:
    for key, value in entry.items():
        if not _has_type(key, value):
            raise BadInput(f"{path} has an entry whose {key} is of the wrong kind: {value!r}.")
    values: dict[str, Any] = {k: tuple(v) if k in _LISTS else v for k, v in entry.items()}
    try:
        return Bundled(**values)
    except TypeError as error:
        raise BadInput(f"{path} has an entry with a missing or unknown key: {error}.") from error


def _has_type(key: str, value: object) -> bool:
    """Whether a value has the type of its key: strings, or lists and tables of strings."""
    if key in _LISTS:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if key == "env":
        return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())
    return isinstance(value, str)


class Jobs(NamedTuple):
    """A bundled program on its inputs."""

    train: Job
    valid: Job
    ref: Job

    def each(self, change: Callable[[Job], Job]) -> Jobs:
        return Jobs(*map(change, self))

    def inputs(self) -> Inputs:
        """What chooses is not what the answer is given on."""
        return Inputs([self.train], self.valid, self.ref)


def prepare(settings: Settings, bundled: Bundled) -> tuple[Job, Job]:
    """The jobs to record and to answer on, without the one to choose on."""
    jobs = prepare_all(settings, bundled)
    return jobs.train, jobs.ref


def prepare_all(settings: Settings, bundled: Bundled) -> Jobs:
    """Its jobs; generates missing inputs."""
    inputs = settings.bench_inputs / bundled.name
    if bundled.generator:
        _generate(settings.bench / bundled.generator, inputs)
    try:
        target = find_target(_program(settings, bundled), settings.environment)
    except CannotRun as error:
        raise MissingPart(_how_to_get(bundled)) from error

    def job(arguments: Sequence[str], stdin: str) -> Job:
        filled = tuple(argument.replace("{inputs}", str(inputs)) for argument in arguments)
        path = Path(stdin.replace("{inputs}", str(inputs))) if stdin else None
        return Job(target, filled, path)

    last = job(bundled.ref, bundled.ref_stdin)
    valid = job(bundled.valid, bundled.valid_stdin) if bundled.valid else last
    return Jobs(job(bundled.train, bundled.train_stdin), valid, last)


def _program(settings: Settings, bundled: Bundled) -> str:
    """The path of our own workload in the build; the name of Debian's program in PATH."""
    if bundled.package:
        return bundled.program
    return str(settings.build / "bench" / bundled.program)


def _how_to_get(bundled: Bundled) -> str:
    if bundled.package:
        return f"{bundled.program} is not installed; run: apt-get install {bundled.package}"
    return f"The workload {bundled.name} is not built; run: make build"


def _generate(script: Path, inputs: Path) -> None:
    """Runs the generator once; the folder appears in one step, so that another may do the same."""
    try:
        stamp = f".made-by-{int(script.stat().st_mtime)}"
        if (inputs / stamp).exists():
            return
        inputs.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{inputs.name}.", dir=inputs.parent) as scratch:
            made = Path(scratch, "made")
            made.mkdir()
            _run_generator(script, made)
            (made / stamp).touch()
            if inputs.is_dir():  # of another version of the generator
                os.rename(inputs, Path(scratch, "old"))
            try:
                os.rename(made, inputs)
            except OSError:
                if not (inputs / stamp).exists():  # another was first
                    raise
    except OSError as error:
        raise BadInput(f"{script} cannot make {inputs}: {error}.") from error


def _run_generator(script: Path, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, os.fspath(script), os.fspath(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise BadInput(f"{script} could not make its inputs: {lines[-1]}.")
