"""Finished stages of a measurement, kept so that an interrupted one goes on where it was.

A stage is used again only where everything that it depends on is what it was: its key is a digest
over all of that. Anything else, and what is damaged, is measured anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from halo.trials.results import write_json

FORMAT, VERSION = "halo-stage", 1
Inputs = Mapping[str, Any]


class Journal:
    """The stages in one folder; `inputs` are what all of them depend on."""

    def __init__(self, folder: Path, inputs: Inputs) -> None:
        self._folder = folder
        self._inputs = dict(inputs)
        self.reused: list[str] = []

    def stage(self, name: str, inputs: Inputs, compute: Callable[[], Any]) -> Any:
        """What `compute` returned for the same inputs before, or returns now: JSON values."""
        key = self._key(name, inputs)
        found = self._read(name, key)
        if found is not None:
            self.reused.append(name)
            return found
        result = compute()
        self._write(name, key, result)
        return json.loads(json.dumps(result))

    def rounds(
        self, name: str, inputs: Inputs, count: int, run: Callable[[int], Any]
    ) -> Sequence[Any]:
        """The results of `count` rounds; those that are there already are not run again.

        Each is kept when it is complete: an interruption loses the round it comes in.
        """
        key = self._key(name, inputs)
        done: list[Any] = self._read(name, key) or []
        if done:
            self.reused.append(name)
        while len(done) < count:
            done.append(json.loads(json.dumps(run(len(done)))))
            self._write(name, key, done)
        return done[:count]

    def forget(self, name: str) -> None:
        """The stage is to be done again: what it left elsewhere is gone or changed."""
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
