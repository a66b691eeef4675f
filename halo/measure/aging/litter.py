"""The settings of `libhalo-litterer.so`, which ages a heap, and its log.

The algorithm is that of Littering, section 3 (docs/littering.md).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from halo.base.errors import LitterFailed, UsageError
from halo.base.schema.summary import LitterSettings
from halo.binary.process.allocators import preload
from halo.measure.aging.environment import without_settings

MAX_MULTIPLIER = 1e6
MAX_SEED = 2**64 - 1
MAX_SECONDS = 86400.0


@dataclass(frozen=True)
class Litter:
    """Settings of the litterer; the first two have the defaults of the Littering study.

    `occupancy` is the fraction of objects that stay allocated (0 to 1). `multiplier` is the number
    of allocated objects, as a multiple of the maximum that was live (0: none). Without a `seed`
    each run has a random one. If `groups` is set, littered objects go to the plan's groups, too.
    If `data` is None, halo runs the detector first.
    """

    occupancy: float = 0.95
    multiplier: float = 20.0
    seed: int | None = None
    shuffle: bool = True
    groups: bool = False
    data: Path | None = None

    def __str__(self) -> str:
        parts = [f"occupancy {self.occupancy:g}", f"multiplier {self.multiplier:g}"]
        parts += [f"seed {self.seed}"] if self.seed is not None else []
        parts += [] if self.shuffle else ["not shuffled"]
        parts += ["groups aged, too"] if self.groups else []
        return ", ".join(parts)

    def option(self) -> str:
        """The settings as `--litter` has them; `parse_litter` gives this object again."""
        parts = [f"occupancy={self.occupancy}", f"multiplier={self.multiplier}"]
        parts += [f"seed={self.seed}"] if self.seed is not None else []
        parts += [] if self.shuffle else ["shuffle=no"]
        parts += ["groups=yes"] if self.groups else []
        parts += [f"data={self.data}"] if self.data else []
        return ",".join(parts)

    def settings(self) -> LitterSettings:
        """For results files."""
        return {
            "occupancy": self.occupancy,
            "multiplier": self.multiplier,
            "seed": self.seed,
            "shuffle": self.shuffle,
            "groups": self.groups,
            "data": os.fspath(self.data) if self.data else None,
        }

    def environment(
        self,
        environment: Mapping[str, str],
        litterer: Path,
        program: Path,
        log: Path,
        quiet: bool = True,
    ) -> dict[str, str]:
        """The environment in which that executable, and no other, starts on a littered heap.

        `data` must be set unless `multiplier` is 0. The user's own settings are dropped. If `quiet`
        is set, the litterer writes only to its log, in whose name %p becomes the process id.
        """
        result = {
            **preload(without_settings(environment), [litterer]),
            "HALO_LITTER_OCCUPANCY": repr(self.occupancy),
            "HALO_LITTER_MULTIPLIER": repr(self.multiplier),
            "HALO_LITTER_SHUFFLE": str(int(self.shuffle)),
            "HALO_LITTER_GROUPS": str(int(self.groups)),
            "HALO_LITTER_PROGRAM": os.path.realpath(program),
            "HALO_LITTER_LOG_FILENAME": os.fspath(log.absolute()),
        }
        if quiet:
            result["HALO_LITTER_QUIET"] = "1"
        if self.data is not None:
            result["HALO_LITTER_DATA_FILENAME"] = os.fspath(self.data.absolute())
        if self.seed is not None:
            result["HALO_LITTER_SEED"] = str(self.seed)
        return result


@dataclass(frozen=True)
class LitterLog:
    """The litterer's log: wall, user and system time of littering, in seconds.

    `program_seconds`: from then to the program's end; None if it ended without destructors.
    `program_start` is in seconds of the monotonic clock. `raw` is the whole log.
    """

    seconds: float
    user_seconds: float
    system_seconds: float
    program_start: float
    program_seconds: float | None
    raw: Mapping[str, Any]


def read_log(path: Path, name: str) -> LitterLog:
    """The log of a run of the program `name`; `LitterFailed` if its heap was not aged."""
    try:
        raw = json.loads(path.read_text("utf-8", "replace"))
        outcome, problem = raw["outcome"], raw["problem"]
        log = LitterLog(
            raw["seconds"],
            raw["user_seconds"],
            raw["system_seconds"],
            raw["program_start"],
            raw.get("program_seconds"),
            raw,
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LitterFailed(
            f"{name} ran, but the litterer was not loaded into it, so its heap was not aged; see:"
            f" halo doctor -- {name}"
        ) from error
    if outcome == "not littered":
        raise LitterFailed(f"{name} ran, but on a heap that was not aged: {problem}.")
    if outcome != "littered":
        raise LitterFailed(f"{name} ran on a heap that was aged in part only: {problem}.")
    return log


def parse_litter(text: str) -> Litter:
    """Parses settings such as `occupancy=0.5,multiplier=1,…`; `UsageError` if one is invalid."""
    found = Litter()
    for part in filter(None, text.split(",")):
        key, _, value = part.partition("=")
        if key not in _PARSERS:
            raise UsageError(
                f"The setting '{key}' of litter does not exist; choose among:"
                f" {', '.join(_PARSERS)}."
            )
        found = replace(found, **{key: _PARSERS[key](value)})
    return found


def occupancy(text: str) -> float:
    """A number from 0 to 1."""
    return _number(text, 1.0, "the occupancy")


def multiplier(text: str) -> float:
    """A number from 0 to a million."""
    return _number(text, MAX_MULTIPLIER, "the multiplier")


def seconds(text: str) -> float:
    """A number from 0 to a day."""
    return _number(text, MAX_SECONDS, "a time in seconds")


def seed(text: str) -> int:
    """A whole number below 2^64."""
    value = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= value <= MAX_SEED:
        raise UsageError(f"'{text}' is not a seed: a whole number below 2^64.")
    return value


def _number(text: str, maximum: float, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= maximum:
        raise UsageError(f"'{text}' is not a number from 0 to {maximum:g}, which {what} must be.")
    return value


def _flag(text: str) -> bool:
    if text in ("yes", "no"):
        return text == "yes"
    raise UsageError(f"'{text}' is neither yes nor no.")


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "occupancy": occupancy,
    "multiplier": multiplier,
    "seed": seed,
    "shuffle": _flag,
    "groups": _flag,
    "data": Path,
}
