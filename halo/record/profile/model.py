"""The profile as frozen data; field by field as in docs/profile-format.md."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

FORMAT = "halo-profile"
VERSION = 1
UNKNOWN_MODULE = -1
DISTANCE_UNSEEN = 0
DISTANCE_VARIED = -1

Node: TypeAlias = tuple[int, int]
"""(parent node, frame id); parents come before their children."""
Edge: TypeAlias = tuple[int, int, int]
"""(context, context, weight), the smaller context id first; equal ids are a loop."""


class Module(NamedTuple):
    """A file with executed code; `build_id` is hex, or empty if it is unknown."""

    path: str
    build_id: str


class Frame(NamedTuple):
    """A call site by its return address; `distance` in bytes to the next one's stack slot."""

    module: int
    offset: int
    distance: int


@dataclass(frozen=True, slots=True)
class Context:
    """An allocation context: one reduced call stack, and the counts of its objects."""

    node: int
    allocations: int
    frees: int
    bytes: int
    min_size: int
    max_size: int
    sizes: tuple[tuple[int, int], ...]
    peak_live_bytes: int
    accesses: int
    alignment: int

    def few_sizes(self, limit: int) -> bool:
        """True if at most `limit` distinct sizes account for every allocation."""
        return len(self.sizes) <= limit and sum(n for _, n in self.sizes) >= self.allocations


@dataclass(frozen=True)
class Parameters:
    """The parameters of the recording, in bytes."""

    affinity_distance: int
    max_object_size: int


@dataclass(frozen=True)
class Totals:
    """Sums over the recorded run; `accesses` are macro-level accesses to tracked objects.

    `final_live_bytes` were live at the end; profiles of older versions have 0.
    """

    allocations: int = 0
    frees: int = 0
    accesses: int = 0
    machine_accesses: int = 0
    peak_live_bytes: int = 0
    final_live_bytes: int = 0
    untracked: int = 0


@dataclass(frozen=True)
class Recorder:
    """The cost of the recording itself."""

    seconds: float = 0.0
    peak_memory_bytes: int = 0
    instructions: int = 0


@dataclass(frozen=True)
class Profile:
    """A whole profile, or a recorder's part; `read_profile` guarantees that indices are valid."""

    producer: str
    parameters: Parameters
    modules: tuple[Module, ...]
    frames: tuple[Frame, ...]
    nodes: tuple[Node, ...]
    contexts: tuple[Context, ...]
    edges: tuple[Edge, ...]
    totals: Totals = field(default_factory=Totals)
    recorder: Recorder = field(default_factory=Recorder)
    program: str = ""
    args: tuple[str, ...] = ()
    sections: Mapping[str, Any] = field(default_factory=dict, hash=False)  # by key: Section.of

    def stack(self, context: int) -> Iterator[int]:
        """The frame ids of a context's reduced stack, the caller of malloc first."""
        node = self.contexts[context].node
        while node:
            node, frame = self.nodes[node]
            yield frame

    def stack_key(self, context: int) -> str:
        """Hex digits that identify a context in all profiles of the same modules, unlike its id."""
        frames = [self.frames[at] for at in self.stack(context)]
        sites = [[f.offset, *self.modules[f.module][:1]] for f in frames if f.module >= 0]
        text = json.dumps([len(frames), sites])
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @cached_property
    def accesses(self) -> int:
        """Macro-level accesses over all contexts: the whole of which coverage is a share."""
        return sum(context.accesses for context in self.contexts)

    def fingerprint(self) -> str:
        """Eight hex digits over contexts and stacks, to compare the meaning of context ids."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        stacks = [self.modules, [frame[:2] for frame in self.frames], self.nodes]
        usage = [(context.node, context.accesses) for context in self.contexts]
        text = json.dumps([stacks, usage], separators=(",", ":"))
        return f"{zlib.crc32(text.encode()):08x}"
