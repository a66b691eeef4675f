"""Filters on sites: globs over functions, types, files and variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import pyarrow as pa

from halo.base.errors import BadInput

KINDS = ("function", "type", "file", "variable")


def subjects(kind: str, site: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of a site that a filter of this kind is matched against."""
    if kind == "type":
        return (site["type"], site["owner"])
    if kind == "file":
        # A glob without a folder matches the file's name.
        return (site["file"], site["file"].rpartition("/")[2])
    if kind == "variable":
        return (site["variable"], f"{site['owner']}.{site['field']}")
    return (site["function"],)


@dataclass(frozen=True)
class Filters:
    """Globs by kind: a site passes if one of each kind matches and none with `!` does."""

    globs: Mapping[str, Sequence[str]]

    def __bool__(self) -> bool:
        return any(self.globs.values())

    def passes(self, site: Mapping[str, Any]) -> bool:
        return all(self._passes(kind, globs, site) for kind, globs in self.globs.items())

    @staticmethod
    def _passes(kind: str, globs: Sequence[str], site: Mapping[str, Any]) -> bool:
        values = subjects(kind, site)
        wanted = [glob for glob in globs if not glob.startswith("!")]
        unwanted = [glob[1:] for glob in globs if glob.startswith("!")]
        if any(fnmatchcase(value, glob) for value in values for glob in unwanted):
            return False
        return not wanted or any(fnmatchcase(value, glob) for value in values for glob in wanted)

    def select(self, sites: pa.Table) -> pa.Table:
        """The sites that pass; raises `BadInput` with the glob if one matches no site."""
        rows = sites.to_pylist()
        for kind, globs in self.globs.items():
            found = {value for row in rows for value in subjects(kind, row)}
            for glob in globs:
                plain = glob.removeprefix("!")
                if not any(fnmatchcase(value, plain) for value in found):
                    raise BadInput(f"No {kind} in the trace matches --{kind} '{glob}'.")
        passing = [self.passes(row) for row in rows]
        if not any(passing):
            raise BadInput(f"No place in the program passes all of the filters: {self}.")
        return sites.filter(pa.array(passing))

    def __str__(self) -> str:
        return " ".join(f"--{kind} '{glob}'" for kind in self.globs for glob in self.globs[kind])
