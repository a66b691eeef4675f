"""Checks of the untrusted JSON of a profile."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from halo.base.errors import BadProfile
from halo.record.profile.model import Module


class Checks:
    """Checks the values of a document; every error message names the file and the key."""

    def __init__(self, document: dict[str, Any], name: str) -> None:
        self.document = document
        self.name = name

    def bad(self, what: str) -> NoReturn:
        raise BadProfile(f"{self.name} is not a usable profile: {what}.")

    def list(self, key: str) -> list[Any]:
        value = self.document.get(key)
        if not isinstance(value, list):
            self.bad(f"{key} is missing or not a list")
        return value

    def object(self, key: str) -> dict[str, Any]:
        value = self.document.get(key)
        if not isinstance(value, dict):
            self.bad(f"{key} is missing or not an object")
        return value

    def count(self, holder: dict[str, Any], key: str, default: int | None = None) -> int:
        value = holder.get(key, default)
        if type(value) is not int or not 0 <= value < 2**63:
            self.bad(f"{key} is missing or not a count")
        return value

    def rows(self, key: str, width: int) -> NDArray[np.int64]:
        """A list of equally long lists of integers as an array of shape (rows, width)."""
        raw = self.list(key)
        if not raw:
            return np.zeros((0, width), dtype=np.int64)
        try:
            table = np.array(raw)
        except (ValueError, OverflowError):
            table = np.array(None)
        if table.dtype != np.int64 or table.shape != (len(raw), width):
            self.bad(f"{key} is not a list of {width} integers each")
        return table

    def modules(self, key: str = "modules") -> tuple[Module, ...]:
        found = []
        for raw in self.list(key):
            path = raw.get("path") if isinstance(raw, dict) else None
            build_id = raw.get("build_id", "") if isinstance(raw, dict) else None
            if not isinstance(path, str) or not isinstance(build_id, str):
                self.bad("a module has no path or build_id")
            if len(build_id) % 2 or len(build_id) > 64 or set(build_id) - set("0123456789abcdef"):
                self.bad(f"the build-id of {path} is not up to 32 bytes of lower-case hex")
            found.append(Module(path, build_id))
        return tuple(found)
