"""Writes a profile: gzip-compressed JSON, in one step, the same bytes for the same profile."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from halo.destination import file_behind, write_through
from halo.errors import BadInput
from halo.profile.model import FORMAT, VERSION, Context, Profile
from halo.profile.simulation import simulation_json
from halo.profile.streams import streams_json

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
    if profile.sampling is not None:
        document["sampling"] = asdict(profile.sampling)
    if profile.loaded:
        document["loaded"] = [module._asdict() for module in profile.loaded]
    if profile.hot_streams is not None:
        document["hot_streams"] = streams_json(profile.hot_streams)
    if profile.simulation is not None:
        document["simulation"] = simulation_json(profile.simulation)
    return document


def write_profile(profile: Profile, path: str | Path) -> None:
    """Writes the profile to `path`; a reader sees the old file or the whole new one.

    Raises `BadInput` if the file cannot be written.
    """
    text = json.dumps(profile_json(profile), separators=(",", ":"))
    write_atomically(path, gzip.compress(text.encode(), compresslevel=6, mtime=0))


def write_atomically(path: str | Path, content: bytes) -> None:
    """Writes through a temporary file next to `path`, synced and then renamed over it.

    A symbolic link stays, and what it leads to is replaced; what is no regular file is written
    through. Raises `BadInput` where that fails.
    """
    path = Path(path)
    try:
        file = file_behind(path)
        if file is None:
            write_through(path, content)
        else:
            _replace(file, content)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}.") from error


def _replace(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
