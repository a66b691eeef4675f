"""Symbolises a profile's frames: function and file:line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from halo.binary.elf import build_id_of, symbolize
from halo.record.profile.model import Module, Profile


def name_frames(profile: Profile, frames: Iterable[int]) -> Mapping[int, str]:
    """Names by frame id; those of a rebuilt module are `module+0xoffset`."""
    by_module: defaultdict[int, list[int]] = defaultdict(list)
    for frame in frames:
        by_module[profile.frames[frame].module].append(frame)
    names: dict[int, str] = {}
    for number, members in by_module.items():
        offsets = {frame: profile.frames[frame].offset for frame in members}
        module = profile.modules[number] if number >= 0 else None
        if module is None or _replaced(module):
            name = Path(module.path).name if module else "?"
            names.update((frame, f"{name}+{offset:#x}") for frame, offset in offsets.items())
            continue
        located = symbolize(module.path, offsets.values())
        names.update((frame, str(located[offset])) for frame, offset in offsets.items())
    return names


def _replaced(module: Module) -> bool:
    """True if the file at the module's path is another build than the recorded one."""
    found = build_id_of(module.path)
    return bool(found) and bool(module.build_id) and found != module.build_id
