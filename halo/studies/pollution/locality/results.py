"""Results of `halo study locality`, one of each program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from halo.base.errors import BadInput
from halo.base.schema.document import DocumentKind, load
from halo.studies.pollution.locality.document import FORMAT, VERSION, Locality, LocalityDocument

KIND = DocumentKind(
    FORMAT,
    VERSION,
    LocalityDocument,
    name="a result of halo study locality",
    give="give a file that halo study locality --json wrote",
    again="run halo study locality again",
)


@dataclass(frozen=True)
class LocalProgram:
    """The result of a program, called as its file."""

    path: Path
    document: LocalityDocument

    @property
    def program(self) -> str:
        return self.path.name.removesuffix(".json")

    @property
    def found(self) -> Locality:
        return self.document.locality


def read_localities(paths: Sequence[Path]) -> list[LocalProgram]:
    """Raises `BadInput` for damaged files, and for caches of different sizes."""
    found = [LocalProgram(path, load(path, KIND)) for path in paths]
    for one in found:
        if one.found.cache_bytes != found[0].found.cache_bytes:
            raise BadInput(
                f"{found[0].path} and {one.path} are of last levels of different sizes; give"
                " results of one machine."
            )
    return found
