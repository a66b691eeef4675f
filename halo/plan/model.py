"""A plan as frozen data; the compact part mirrors docs/plan-format.md field by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from halo.binary.alignment.model import CheckedModule
from halo.plan.layout import (
    CHECKED_VERSION,
    DIGEST_VERSION,
    LAYOUT_VERSION,
    SPAN_VERSION,
    VERDICT_FORWARD,
)
from halo.plan.review.ids import NO_IDS, ContextIds

FORMAT = "halo-plan"
MAX_STEPS = 256
"""The maximum of return addresses that a walk reads."""


class PlanModule(NamedTuple):
    """A module by build-id (hex, 1 to 32 bytes), and the digest of its layout; 0: unknown.

    The path is not in the compact form.
    """

    build_id: str
    path: str = ""
    layout: int = 0


ALL_SLOTS = (1 << 64) - 1
DEFAULT_WAY = 4096


class PageLayout(NamedTuple):
    """Where blocks start in single-size pages; by default they are spread over all cache sets.

    `starts` has a bit for each slot, a 64th of a way of `way_bytes` (a power of two), in which
    blocks may start. `packed` blocks are adjacent, so blocks of a power of two use few sets. With
    `line_start`, each block starts at a cache line. If `stepping`, the runtime looks for a
    permitted start at each allocation instead, in one heap of all such groups, without such pages.
    """

    starts: int = ALL_SLOTS
    way_bytes: int = DEFAULT_WAY
    packed: bool = False
    line_start: bool = False
    stepping: bool = False


SPREAD = PageLayout()


class Spans(NamedTuple):
    """Objects above 64 KiB have spans. If `confined`, these reuse a ring of `ring` bytes.

    `ring` is 0, or a multiple of 4096 from 2^17 to 2^30. `density` is how many lines a visit of one
    of their pages touches, in sixteenths, up to 1024; 0: unknown.
    """

    ring: int = 0
    confined: bool = False
    density: int = 0


class PlanGroup(NamedTuple):
    """The settings of a group's pool; `reuse` is one of the REUSE constants of the layout.

    Any layout but `SPREAD` requires `by_size`. Without `spans`, large objects are forwarded.
    """

    huge_pages: bool
    reuse: int
    by_size: bool = False
    layout: PageLayout = SPREAD
    spans: Spans | None = None


class State(NamedTuple):
    """One state of the decision trie.

    `step` is in bytes. `rbp_saved_below` is 0 if `rbp` need not be restored; `alignment`, in
    bytes, is 0 if it follows from the size. State 0 is the root: parent, module, offset and rule
    are 0.
    """

    parent: int
    module: int
    offset: int
    step: int
    rule: int
    verdict: int
    rbp_saved_below: int
    alignment: int


class PlanSite(NamedTuple):
    """A call site that selectors name, by its return address; `step` as of a state, or 0.

    `immediate` sites call the allocator itself.
    """

    module: int
    offset: int
    step: int
    immediate: bool = False


class Conjunction(NamedTuple):
    """An allocation belongs to the group if all these call sites, by index, are active."""

    group: int
    alignment: int
    sites: tuple[int, ...]


class Selectors(NamedTuple):
    """Identify groups instead of states: the first conjunction that holds has the verdict."""

    sites: tuple[PlanSite, ...]
    conjunctions: tuple[Conjunction, ...]


@dataclass(frozen=True)
class SelectorReview:
    """The result of HALO's figure 10, in numbers.

    `unreachable` members have no call site that can be redirected. `not_redirected` counts call
    sites on the stacks of groups that cannot be redirected, by cause. `immediate` counts those of
    `sites` that call the allocator itself and need no redirection.
    """

    sites: int
    immediate: int
    conjunctions: int
    unreachable: ContextIds = NO_IDS
    not_redirected: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Member:
    """A context of a group, for review; `stack` is innermost first and cut off if it is long.

    `sizes` are pairs of bytes and count, at most 16.
    """

    context: int
    accesses: int
    allocations: int
    sizes: tuple[tuple[int, int], ...]
    stack: tuple[str, ...]


@dataclass(frozen=True)
class ConflictReview:
    """Where the strategy lets a group's blocks start, and the group's conflict misses.

    `slots` is the number of permitted slots of 64, `hot_line` the line with the most accesses of
    the objects with the most. `recorded` are the misses in the recording, `spread` those that are
    predicted with all slots, `placed` with the permitted ones; None if nothing was predicted.
    """

    slots: int
    hot_line: int
    recorded: int
    spread: float | None = None
    placed: float | None = None


@dataclass(frozen=True)
class Others:
    """The contexts of a group that are not described, by their ids in the profile."""

    ids: ContextIds = NO_IDS
    accesses: int = 0


NO_OTHERS = Others()


@dataclass(frozen=True)
class GroupReview:
    """The reason for a group, its share of all accesses (0 to 1) and its affinity weight.

    `contexts` are the hottest ones, hottest first; `others` are the rest.
    """

    reason: str
    coverage: float
    weight: int
    contexts: tuple[Member, ...]
    conflicts: ConflictReview | None = None
    others: Others = NO_OTHERS

    @property
    def size(self) -> int:
        """The number of its contexts."""
        return len(self.contexts) + len(self.others.ids)

    def members(self) -> Iterator[int]:
        """The ids of its contexts, as far as they are known."""
        yield from (member.context for member in self.contexts)
        yield from self.others.ids


@dataclass(frozen=True)
class Identification:
    """How well the walk distinguishes contexts.

    Shares are of the recorded totals, 0 to 1. `undecidable` are contexts whose verdict is not their
    group because the walk ends first, `simplified` those for which the option `simplify` allows it.
    `mean_steps`: return addresses read per allocation. `ends` counts the call sites at which walks
    end, by cause. If `selectors` is set, they replace the walk and cause the undecidable contexts.
    """

    states: int
    deepest: int
    mean_steps: float = 0.0
    undecidable: ContextIds = NO_IDS
    undecidable_accesses: float = 0.0
    undecidable_allocations: float = 0.0
    simplified: ContextIds = NO_IDS
    simplified_accesses: float = 0.0
    simplified_allocations: float = 0.0
    ends: Mapping[str, int] = field(default_factory=dict)
    selectors: SelectorReview | None = None


@dataclass(frozen=True)
class Source:
    """The profile that a plan was made from: its file, and its fingerprint; empty if unknown.

    The fingerprint of a plan for another build differs from `Review.profile`'s, whose contexts are
    those of that build.
    """

    file: str = ""
    fingerprint: str = ""


@dataclass(frozen=True)
class Review:
    """The reviewable part, NAME.plan.json; `alignment` is the reason for the blocks' alignment.

    `allocator` is the next allocator that the plan was chosen over, empty if that is unknown.
    """

    strategy: str
    parameters: Mapping[str, Any]
    profile: Mapping[str, Any]
    groups: tuple[GroupReview, ...]
    identification: Identification
    alignment: str = ""
    source: Source = Source()
    allocator: str = ""

    @property
    def command(self) -> list[str]:
        """The path of the recorded program, or an empty text, and its arguments."""
        program = self.profile.get("program", {})
        return [str(program.get("path", "")), *map(str, program.get("args", ()))]


@dataclass(frozen=True)
class Plan:
    """A whole plan, for the executable `modules[executable]` alone; None: for any program.

    `review` is None if only the compact form was read. If `at_random` is set, every small object
    goes to a group drawn at random, with the root's alignment. With `at_random` or `selectors` the
    root is the only state. `checked` are the modules whose code allows blocks at multiples of eight
    bytes; in a process with any other module the runtime aligns all blocks to 16. `max_object` is
    in bytes.
    """

    modules: tuple[PlanModule, ...]
    groups: tuple[PlanGroup, ...]
    states: tuple[State, ...]
    max_object: int
    huge_pages: bool
    review: Review | None = None
    executable: int | None = None
    at_random: bool = False
    selectors: Selectors | None = None
    checked: tuple[CheckedModule, ...] = ()

    @property
    def version(self) -> int:
        """The oldest version of the format that can hold the plan."""
        if any(it.layout for it in self.modules) or any(it.code for it in self.checked):
            return DIGEST_VERSION
        if any(group.spans is not None for group in self.groups):
            return SPAN_VERSION
        plain = all(group.layout == SPREAD for group in self.groups)
        return CHECKED_VERSION if plain else LAYOUT_VERSION

    @property
    def needs_extra(self) -> bool:
        """Whether only `libhalo-extra.so` can serve it (`src/runtime/extra.h`)."""
        draws = self.at_random and len(self.groups) > 1
        more = any(it.spans is not None or it.layout.stepping for it in self.groups)
        return draws or more or self.selectors is not None

    @property
    def is_inert(self) -> bool:
        """Whether the plan forwards every allocation."""
        if self.selectors is not None:
            return not self.selectors.conjunctions
        return not self.at_random and all(state.verdict >= VERDICT_FORWARD for state in self.states)
