"""Brings results files of earlier versions to the keys of the current one."""

from __future__ import annotations

from typing import Any

RENAMED_IN_2 = {
    "contenders": "configurations",
    "training_trials_of_contenders": "training_trials_of_configurations",
}


def migrate(document: dict[str, Any], version: int) -> dict[str, Any]:
    """The document with the keys of the current version."""
    return _renamed(document, RENAMED_IN_2) if version < 2 else document


def _renamed(value: Any, keys: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {keys.get(key, key): _renamed(it, keys) for key, it in value.items()}
    return [_renamed(it, keys) for it in value] if isinstance(value, list) else value
