"""How a heap is aged: the settings of `liblitterer.so`, and the log that it leaves."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from halo.aging.environment import without_settings
from halo.allocators import preload
from halo.errors import LitterFailed, UsageError

MOST_MULTIPLIER = 1e6
MOST_SEED = 2**64 - 1
MOST_SECONDS = 86400.0


@dataclass(frozen=True)
class Litter:
    """Settings of the litterer; the defaults of the first two are the study's.

    `occupancy` is the fraction of objects that stays, `multiplier` how many are allocated, in
    multiples of the most that were alive at once (0: none). Without a `seed` each run has another.
    `groups`: what a plan puts into a group goes there. `data`: None, it is detected.
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

    def as_json(self) -> dict[str, Any]:
        """For results files; `data` as a path or null."""
        return {**self.__dict__, "data": os.fspath(self.data) if self.data else None}

    def environment(
        self,
        environment: Mapping[str, str],
        litterer: Path,
        program: Path,
        log: Path,
        quiet: bool = True,
    ) -> dict[str, str]:
        """The environment in which that executable, and no other, starts on a littered heap.

        `data` must be set unless `multiplier` is 0. Settings of the user's own are left out.
        `quiet`: the litterer tells only its log, in whose name %p becomes the process id.
        """
        result = {
            **preload(without_settings(environment), [litterer]),
            "LITTER_OCCUPANCY": repr(self.occupancy),
            "LITTER_MULTIPLIER": repr(self.multiplier),
            "LITTER_SHUFFLE": str(int(self.shuffle)),
            "LITTER_GROUPS": str(int(self.groups)),
            "LITTER_PROGRAM": os.path.realpath(program),
            "LITTER_LOG_FILENAME": os.fspath(log.absolute()),
        }
        if quiet:
            result["LITTER_QUIET"] = "1"
        if self.data is not None:
            result["LITTER_DATA_FILENAME"] = os.fspath(self.data.absolute())
        if self.seed is not None:
            result["LITTER_SEED"] = str(self.seed)
        return result


@dataclass(frozen=True)
class LitterLog:
    """What the litterer did. Seconds of wall, user and system time went into it.

    `program_seconds`: from then to the program's end; None where it ended without destructors.
    `program_start` is of the monotonic clock. `raw` is all of the log.
    """

    seconds: float
    user_seconds: float
    system_seconds: float
    program_start: float
    program_seconds: float | None
    raw: Mapping[str, Any]


def read_log(path: Path, name: str) -> LitterLog:
    """The log of a run of the program `name`; `LitterFailed` where its heap was not aged."""
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
    """Settings as `occupancy=0.5,multiplier=1,…`; `UsageError` where one is no good."""
    found = Litter()
    for part in filter(None, text.split(",")):
        key, _, value = part.partition("=")
        if key not in _PARSERS:
            raise UsageError(
                f"There is no setting '{key}' of litter; choose among: {', '.join(_PARSERS)}."
            )
        found = replace(found, **{key: _PARSERS[key](value)})
    return found


def occupancy(text: str) -> float:
    """A number from 0 to 1."""
    return _number(text, 1.0, "the occupancy")


def multiplier(text: str) -> float:
    """A number from 0 to a million."""
    return _number(text, MOST_MULTIPLIER, "the multiplier")


def seconds(text: str) -> float:
    """A number from 0 to a day."""
    return _number(text, MOST_SECONDS, "a time in seconds")


def seed(text: str) -> int:
    """A whole number below 2^64."""
    value = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= value <= MOST_SEED:
        raise UsageError(f"'{text}' is no seed: a whole number below 2^64.")
    return value


def _number(text: str, most: float, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= most:
        raise UsageError(f"'{text}' is no number from 0 to {most:g}, which {what} must be.")
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
