"""Stores finished stages of a measurement, so that it can continue after an interruption.

A stage is reused only if all its inputs are unchanged: its key is a digest of them. Changed or
damaged stages are measured again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from halo.base.files.atomic import write_json

FORMAT, VERSION = "halo-stage", 1
Inputs = Mapping[str, Any]


def _as_json(result: Any) -> Any:
    """The result as it is when it is read back."""
    return json.loads(json.dumps(result, default=to_builtins))


class Journal:
    """The stages in one folder; `inputs` are those that all stages depend on."""

    def __init__(self, folder: Path, inputs: Inputs) -> None:
        self._folder = folder
        self._inputs = dict(inputs)
        self.reused: list[str] = []

    def stage(self, name: str, inputs: Inputs, compute: Callable[[], Any]) -> Any:
        """The JSON result of `compute`, stored from an earlier call with the same inputs or new."""
        key = self._key(name, inputs)
        found = self._read(name, key)
        if found is not None:
            self.reused.append(name)
            return found
        result = compute()
        self._write(name, key, result)
        return _as_json(result)

    def rounds(
        self, name: str, inputs: Inputs, count: int, run: Callable[[int], Any]
    ) -> Sequence[Any]:
        """The results of `count` rounds; stored ones are not run again.

        Each is stored when it is complete: an interruption loses the current round.
        """
        key = self._key(name, inputs)
        done: list[Any] = self._read(name, key) or []
        if done:
            self.reused.append(name)
        while len(done) < count:
            done.append(_as_json(run(len(done))))
            self._write(name, key, done)
        return done[:count]

    def forget(self, name: str) -> None:
        """Removes a stage, so that it runs again, as a file that it wrote is gone or changed."""
        self._path(name).unlink(missing_ok=True)

    def _key(self, name: str, inputs: Inputs) -> str:
        text = json.dumps([name, self._inputs, dict(inputs)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _read(self, name: str, key: str) -> Any:
        try:
            document = json.loads(self._path(name).read_text())
        except (OSError, ValueError):
            return None
        if not isinstance(document, dict) or document.get("key") != key:
            return None
        return document.get("result") if document.get("version") == VERSION else None

    def _write(self, name: str, key: str, result: Any) -> None:
        document = {"format": FORMAT, "version": VERSION, "key": key, "result": result}
        write_json(document, self._path(name))
