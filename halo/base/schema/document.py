"""Loads a JSON document into its type; whatever is wrong becomes one sentence of `BadInput`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from halo.base.errors import BadInput
from halo.base.schema.faults import describe

T = TypeVar("T")
BEGINNING = 4096  # letters among which the format of a damaged file is looked for


class Damaged(ValueError):
    """A value is missing or wrong; the message names it."""


def unchanged(document: dict[str, Any], version: int) -> dict[str, Any]:
    """The migration of a format that has one version."""
    return document


@dataclass(frozen=True)
class DocumentKind(Generic[T]):
    """A kind of document: its format and type, and the words of a refusal."""

    format: str
    version: int
    type: type[T]
    name: str
    give: str  # what to give in the place of another file
    again: str  # how to get an undamaged one
    migrate: Callable[[dict[str, Any], int], dict[str, Any]] = unchanged

    def damaged(self, path: Path, fault: object) -> BadInput:
        return BadInput(f"{path} is damaged: {fault}; {self.again}.")


def load(path: Path, kind: DocumentKind[T]) -> T:
    """The document in a file; `BadInput` if it is missing, of another kind, damaged or newer."""
    try:
        return parse(path.read_text("utf-8", "replace"), path, kind)
    except FileNotFoundError as error:
        raise BadInput(f"{path} does not exist; {kind.give}.") from error
    except IsADirectoryError as error:
        raise BadInput(f"{path} is a folder; {kind.give}.") from error
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from error


def parse(content: str, path: Path, kind: DocumentKind[T]) -> T:
    """The same of the content of that file."""
    raw = _document(content, path, kind)
    version = raw.get("version")
    if type(version) is not int or version < 1:
        raise kind.damaged(path, "it has no version")
    if version > kind.version:
        raise BadInput(
            f"{path} has version {version}, this halo reads up to {kind.version}; use the newer"
            " halo."
        )
    try:
        return convert(kind.migrate(raw, version), kind.type)
    except Damaged as error:
        raise kind.damaged(path, error) from error


def convert(raw: Any, type_: type[T], name: str = "") -> T:
    """The checked value, called `name` in a refusal; `Damaged` says what is wrong with it."""
    try:
        return msgspec.convert(raw, type_)
    except msgspec.ValidationError as error:
        raise Damaged(describe(str(error), raw, type_, name)) from error


def is_of(path: Path, kind: DocumentKind[Any]) -> bool:
    """Whether a file names that format, however damaged it may be; False if it is unreadable."""
    try:
        with path.open(encoding="utf-8") as file:
            return f'"{kind.format}"' in file.read(BEGINNING)
    except (OSError, UnicodeDecodeError):
        return False


def _document(content: str, path: Path, kind: DocumentKind[Any]) -> dict[str, Any]:
    try:
        raw = json.loads(content)
    except (ValueError, RecursionError) as error:
        if f'"{kind.format}"' in content[:BEGINNING]:
            raise BadInput(f"{path} is cut short or damaged; {kind.again}.") from error
        raise _foreign(path, kind) from error
    if not isinstance(raw, dict) or raw.get("format") != kind.format:
        raise _foreign(path, kind)
    return raw


def _foreign(path: Path, kind: DocumentKind[Any]) -> BadInput:
    return BadInput(f"{path} is not {kind.name}; {kind.give}.")
