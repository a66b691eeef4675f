"""Object traces and datasets from type-aware traces, which instrumented programs write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from halo.base.settings import Settings
from halo.record.parts import Limits
from halo.record.sink_options import OBJECTS
from halo.studies.tracing.analyses.folder import TraceFolder, open_folder
from halo.studies.tracing.columns import convert
from halo.studies.tracing.engine import profile_of
from halo.studies.tracing.frames import MAGIC
from halo.studies.tracing.machines import machine_of


@dataclass(frozen=True)
class TypedTrace:
    """The object trace of a type-aware trace, and the traced run.

    Objects have the numbers of the column `allocations.object` of the trace's dataset.
    """

    objects: Path
    program: Path
    arguments: tuple[str, ...]
    complete: bool  # whether the trace reaches the end of the program


def is_typed(trace: Path) -> bool:
    """Whether the file begins as a type-aware trace does."""
    try:
        with trace.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def objects_of(settings: Settings, trace: Path, folder: Path, phase: str = "") -> TypedTrace:
    """Writes the object trace of a type-aware trace to `folder`; `BadTrace` if it is damaged.

    It has a phase, if the function `phase` is entered.
    """
    found = profile_of(settings, trace, Limits(sinks={OBJECTS.name: 1}), folder, phase)
    objects = folder / OBJECTS.file
    return TypedTrace(objects, found.program, found.arguments, found.complete)


def dataset_of(settings: Settings, trace: Path, machine: Path | None, folder: Path) -> TraceFolder:
    """The dataset of a type-aware trace, in `folder`; `BadTrace` if the trace is damaged.

    It has the simulated misses of a machine file, or of this machine.
    """
    dataset = folder / "dataset"
    with machine_of(machine) as described:
        convert(settings, [str(trace)], dataset, described, keep_damaged=False)
    return open_folder(dataset)
