"""Unifies modules, frames and stacks of several profiles and numbers them canonically."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from halo.binary.elf import build_id_of
from halo.record.profile.model import (
    DISTANCE_UNSEEN,
    DISTANCE_VARIED,
    UNKNOWN_MODULE,
    Frame,
    Module,
    Node,
    Profile,
)

_UNKNOWN = Module("", "")
FrameKey = tuple[Module, int]


class Stacks(NamedTuple):
    """Canonical modules, frames and nodes, and maps from provisional nodes and frame keys."""

    modules: tuple[Module, ...]
    frames: tuple[Frame, ...]
    nodes: tuple[Node, ...]
    node_ids: list[int]
    frame_ids: dict[FrameKey, int]


class StackMerger:
    """Collects the stacks of profiles; node numbers stay provisional until `numbered`."""

    def __init__(self) -> None:
        self._build_ids: dict[str, str] = {}
        self._modules: set[Module] = set()
        self._distances: dict[FrameKey, int] = {}
        self._node_ids: dict[tuple[int, FrameKey], int] = {}
        self._nodes: list[tuple[int, FrameKey]] = [(0, (_UNKNOWN, -1))]

    def add(self, part: Profile) -> list[int]:
        """Adds a part's stacks; returns the provisional number of each of its nodes."""
        keys = self.frame_keys(part)
        self._modules.update(map(self._with_build_id, part.modules))
        for key, frame in zip(keys, part.frames, strict=True):
            known = self._distances.get(key, DISTANCE_UNSEEN)
            self._distances[key] = merge_distances(known, frame.distance)
        numbers = [0]
        for parent, frame_id in part.nodes[1:]:
            link = (numbers[parent], keys[frame_id])
            number = self._node_ids.get(link)
            if number is None:
                number = self._node_ids[link] = len(self._nodes)
                self._nodes.append(link)
            numbers.append(number)
        return numbers

    def frame_keys(self, part: Profile) -> list[FrameKey]:
        """The keys of a part's frames, common to all parts, by frame id."""
        modules = [self._with_build_id(module) for module in part.modules]
        return [
            (_UNKNOWN if frame.module == UNKNOWN_MODULE else modules[frame.module], frame.offset)
            for frame in part.frames
        ]

    def _with_build_id(self, module: Module) -> Module:
        if module.build_id:
            return module
        if module.path not in self._build_ids:
            self._build_ids[module.path] = build_id_of(module.path)
        return Module(module.path, self._build_ids[module.path])

    def numbered(self) -> Stacks:
        """All stacks in canonical order."""
        modules = tuple(sorted(self._modules))
        module_ids = {module: index for index, module in enumerate(modules)}
        module_ids[_UNKNOWN] = UNKNOWN_MODULE
        keys = sorted(self._distances, key=lambda key: (module_ids[key[0]], key[1]))
        frame_ids = {key: index for index, key in enumerate(keys)}
        frames = tuple(Frame(module_ids[key[0]], key[1], self._distances[key]) for key in keys)
        children: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for number, (parent, key) in enumerate(self._nodes[1:], 1):
            children[parent].append((frame_ids[key], number))
        canonical = [0] * len(self._nodes)
        nodes: list[Node] = [(0, -1)]
        queue = [0]
        for number in queue:  # the loop appends to it: breadth-first order
            for frame_id, child in sorted(children[number]):
                canonical[child] = len(nodes)
                nodes.append((canonical[number], frame_id))
                queue.append(child)
        return Stacks(modules, frames, tuple(nodes), canonical, frame_ids)


def merge_distances(one: int, other: int) -> int:
    """The distance of a call site in both profiles: unseen yields, a conflict is "varied"."""
    if one in (DISTANCE_UNSEEN, other):
        return other
    return one if other == DISTANCE_UNSEEN else DISTANCE_VARIED
