"""The profile as frozen data; field by field as in docs/profile-format.md."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from halo.profile.simulation import Simulation
from halo.profile.streams import HotStreams

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
    """A file that code was run from; `build_id` is hex, or empty where it is not known."""

    path: str
    build_id: str


class Frame(NamedTuple):
    """A call site by its return address; `distance` in bytes to the next one's stack slot."""

    module: int
    offset: int
    distance: int


@dataclass(frozen=True, slots=True)
class Context:
    """An allocation context: one reduced call stack, and what became of its objects."""

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
    """How it was recorded; both in bytes."""

    affinity_distance: int
    max_object_size: int


@dataclass(frozen=True)
class Totals:
    """Sums over the recorded run; `accesses` are macro-level accesses to tracked objects."""

    allocations: int = 0
    frees: int = 0
    accesses: int = 0
    machine_accesses: int = 0
    peak_live_bytes: int = 0
    untracked: int = 0


@dataclass(frozen=True)
class Recorder:
    """What the recording itself cost."""

    seconds: float = 0.0
    peak_memory_bytes: int = 0
    instructions: int = 0


@dataclass(frozen=True)
class Sampling:
    """How accesses were recorded where not all of them were; counts stand for all of them.

    `edge_error` is the standard error of the edges' weights over the weights, both summed up.
    """

    bursts: int
    edge_error: float


@dataclass(frozen=True)
class Profile:
    """A whole profile, or a recorder's part. Indices are valid; `read_profile` saw to that."""

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
    hot_streams: HotStreams | None = None  # sites are frame ids; None: not recorded
    simulation: Simulation | None = None  # None: nothing was simulated
    sampling: Sampling | None = None  # None: all accesses were recorded
    loaded: tuple[Module, ...] = ()  # by processes of the program; empty: not recorded

    @property
    def process_modules(self) -> tuple[Module, ...]:
        """What the recorded program's processes had loaded, as far as the producer says."""
        return self.loaded or self.modules

    def stack(self, context: int) -> Iterator[int]:
        """The frame ids of a context's reduced stack, the caller of malloc first."""
        node = self.contexts[context].node
        while node:
            node, frame = self.nodes[node]
            yield frame

    def stack_key(self, context: int) -> str:
        """Hex digits that tell a context in every profile of the same modules, unlike its id."""
        frames = [self.frames[at] for at in self.stack(context)]
        sites = [[f.offset, *self.modules[f.module][:1]] for f in frames if f.module >= 0]
        text = json.dumps([len(frames), sites])
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def accesses(self) -> int:
        """Macro-level accesses over all contexts: the whole of which coverage is a share."""
        return sum(context.accesses for context in self.contexts)

    def fingerprint(self) -> str:
        """Eight hex digits over contexts and stacks: do context ids mean the same thing?"""
        stacks = [self.modules, [frame[:2] for frame in self.frames], self.nodes]
        usage = [(context.node, context.accesses) for context in self.contexts]
        text = json.dumps([stacks, usage], separators=(",", ":"))
        return f"{zlib.crc32(text.encode()):08x}"
