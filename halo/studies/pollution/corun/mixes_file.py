"""Reads a file of mixes, such as bench/programs/mixes.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from halo.base.errors import BadInput, UsageError
from halo.base.settings import Settings
from halo.measure.bundled import find_bundled, prepare
from halo.studies.pollution.corun.members import Member, PlannedMix, check_together

ROLES = {"polluters": "polluter", "victims": "victim", "neutral": "neutral"}


class MixesFile:
    """Programs by name and the mixes of them; `BadInput` if the file is invalid.

    Programs are prepared when they are asked for: missing inputs are generated then.
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        self._path, self._settings = path, settings
        try:
            data = tomllib.loads(path.read_text())
        except FileNotFoundError as error:
            raise BadInput(f"The file of mixes {path} does not exist; check its path.") from error
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise BadInput(f"The file of mixes {path} cannot be read: {error}.") from error
        self._programs = self._table(data, "program")
        mixes = data.get("mix", [])
        if not isinstance(mixes, list) or not all(isinstance(mix, dict) for mix in mixes):
            raise self._bad("has a mix that is not a separate entry: write [[mix]]")
        self._mixes: list[dict[str, Any]] = mixes
        self._members: dict[str, Member] = {}

    def names(self) -> list[str]:
        """The names of all programs."""
        return list(self._programs)

    def mixes(self, names: tuple[str, ...] = ()) -> list[PlannedMix]:
        """All mixes, or those of these names."""
        known = [str(mix.get("name", "")) for mix in self._mixes]
        if not known:
            raise self._bad("has no mixes")
        if len(set(known)) < len(known):
            raise self._bad("has two mixes of one name")
        unknown = [name for name in names if name not in known]
        if unknown:
            raise UsageError(
                f"{self._path} has no mix '{unknown[0]}'; choose among: {', '.join(known)}."
            )
        return [self._mix(mix) for mix in self._mixes if not names or mix.get("name") in names]

    def member(self, name: str) -> Member:
        """A program by its name in the file."""
        if name not in self._members:
            self._members[name] = self._prepare(name)
        return self._members[name]

    def _prepare(self, name: str) -> Member:
        entry = self._programs.get(name)
        if entry is None:
            raise self._bad(f"has no program '{name}'")
        bundled, arguments = entry.get("bundled"), entry.get("arguments")
        limit = entry.get("limit", 0)
        if (
            set(entry) - {"bundled", "arguments", "limit"}
            or not isinstance(bundled, str)
            or not (arguments is None or _are_words(arguments))
            or type(limit) is not int
            or limit < 0
        ):
            raise self._bad(
                f"has a program '{name}' without: bundled, a name of halo bench; arguments, a list"
                " of strings (default: its training input); limit, a number of accesses (default:"
                " none)"
            )
        found = find_bundled(self._settings, bundled)
        train, _ = prepare(self._settings, found)
        job = train if arguments is None else replace(train, arguments=tuple(arguments))
        return Member(name, job.target, tuple(job.arguments), tuple(found.env.items()), limit)

    def _mix(self, mix: Mapping[str, Any]) -> PlannedMix:
        name, kind = mix.get("name"), mix.get("kind")
        if not isinstance(name, str) or not isinstance(kind, str):
            raise self._bad("has a mix without a name or a kind")
        if set(mix) - {"name", "kind", *ROLES}:
            raise self._bad(f"has a mix '{name}' with other keys than {', '.join(ROLES)}")
        members: list[Member] = []
        roles: list[str] = []
        for key, role in ROLES.items():
            words = mix.get(key, [])
            if not _are_words(words):
                raise self._bad(f"has a mix '{name}' whose {key} are not a list of names")
            members += [self.member(word) for word in words]
            roles += [role] * len(words)
        check_together(len(members))
        return PlannedMix(name, kind, tuple(members), tuple(roles))

    def _table(self, data: Mapping[str, Any], key: str) -> dict[str, dict[str, Any]]:
        table = data.get(key, {})
        if not isinstance(table, dict) or not all(isinstance(it, dict) for it in table.values()):
            raise self._bad(f"has a {key} that is not a table: write [{key}.NAME]")
        return table

    def _bad(self, what: str) -> BadInput:
        return BadInput(f"The file of mixes {self._path} {what}; docs/corun.md shows one.")


def _are_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)
