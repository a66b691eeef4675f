"""Writes a profile as gzip-compressed JSON, atomically and reproducibly."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from halo.base.files.atomic import write_atomically
from halo.record.profile.model import FORMAT, VERSION, Context, Profile
from halo.record.profile.sections.registry import SECTIONS

_CONTEXT_KEYS = tuple(field.name for field in fields(Context))


def profile_json(profile: Profile) -> dict[str, Any]:
    """The JSON document of a profile, keys as in docs/profile-format.md."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "producer": profile.producer,
        "program": {"path": profile.program, "args": profile.args},
        "parameters": asdict(profile.parameters),
        "totals": asdict(profile.totals),
        "recorder": asdict(profile.recorder),
        "modules": [module._asdict() for module in profile.modules],
        "frames": profile.frames,
        "nodes": profile.nodes,
        "contexts": [
            {key: getattr(context, key) for key in _CONTEXT_KEYS} for context in profile.contexts
        ],
        "edges": profile.edges,
    }
    for section in SECTIONS:
        value = section.of(profile)
        if value is not None:
            document[section.key] = section.write(value)
    return document


def write_profile(profile: Profile, path: str | Path) -> None:
    """Writes the profile to `path`; a reader sees the old file or the whole new one.

    Raises `BadInput` if the file cannot be written.
    """
    text = json.dumps(profile_json(profile), separators=(",", ":"))
    write_atomically(path, gzip.compress(text.encode(), compresslevel=6, mtime=0))
