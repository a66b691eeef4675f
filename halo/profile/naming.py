"""Names for the frames of a profile, for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

from halo.elf import symbolize
from halo.profile.model import Profile


def name_frames(profile: Profile, frames: Collection[int]) -> Mapping[int, str]:
    """By frame id: the function at file:line, or what is known of it."""
    by_module: defaultdict[int, list[int]] = defaultdict(list)
    for frame in frames:
        by_module[profile.frames[frame].module].append(frame)
    names: dict[int, str] = {}
    for module, members in by_module.items():
        offsets = {frame: profile.frames[frame].offset for frame in members}
        if module < 0:
            names.update((frame, f"?+{offset:#x}") for frame, offset in offsets.items())
            continue
        located = symbolize(profile.modules[module].path, offsets.values())
        names.update((frame, str(located[offset])) for frame, offset in offsets.items())
    return names
