"""One program simulated under several layouts: a folder with a file for each, named after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from halo.base.errors import BadInput
from halo.base.schema.document import load
from halo.base.schema.simulation import ClassCounts, HotLines, SimulatedMachine, SimulationDocument
from halo.report.results.simulations import KIND


@dataclass(frozen=True)
class Classified:
    """The misses of the first cache in one run, by class, and all accesses."""

    classes: ClassCounts
    accesses: int
    hot_lines: HotLines | None  # None in results of earlier versions


@dataclass(frozen=True)
class Layouts:
    """A program, called as its folder, and its runs by layout, in the order of their names."""

    path: Path
    machine: SimulatedMachine
    runs: Mapping[str, Classified]

    @property
    def program(self) -> str:
        return self.path.resolve().name


def read_layouts(folders: Sequence[Path], wanted: Sequence[str] = ()) -> list[Layouts]:
    """Each folder, with the wanted layouts in that order, or else with all.

    Raises `BadInput` if a folder lacks one of them, and for damaged files, runs without classes,
    different machines, different arguments in a folder, and two folders of one name.
    """
    found = [_read(folder, wanted) for folder in folders]
    names = [one.program for one in found]
    for one in found:
        if one.machine != found[0].machine:
            raise BadInput(
                f"{found[0].path} and {one.path} are of different simulated machines; give results"
                " of one machine."
            )
        if names.count(one.program) > 1:
            raise BadInput(f"Two of the folders are named {one.program}; give one of them.")
    return found


def _read(folder: Path, wanted: Sequence[str]) -> Layouts:
    files = {path.stem: path for path in sorted(folder.glob("*.json"))}
    if not files:
        raise BadInput(
            f"{folder} is not a folder with results of halo study eval simulate --classes --json;"
            " give"
            " one that has a file for each layout of a program."
        )
    for name in wanted:
        if name not in files:
            raise BadInput(f"{folder} has no {name}.json; it has {', '.join(files)}.")
    documents = {name: load(files[name], KIND) for name in wanted or files}
    first = next(iter(documents.values()))
    runs = {}
    for name, document in documents.items():
        if _command(document) != _command(first) or document.machine != first.machine:
            raise BadInput(
                f"The files of {folder} are not of one command on one simulated machine; simulate"
                " all layouts alike."
            )
        if document.classes is None:
            raise BadInput(
                f"{files[name]} has no classes of misses; simulate the program with --classes."
            )
        runs[name] = Classified(document.classes, document.accesses, document.hot_lines)
    return Layouts(folder, first.machine, runs)


def _command(document: SimulationDocument) -> tuple[str, ...]:
    return (document.program, *document.arguments)
