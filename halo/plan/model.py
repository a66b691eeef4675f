"""A plan as frozen data; the compact part mirrors docs/plan-format.md field by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from halo.alignment.model import CheckedModule

FORMAT = "halo-plan"
VERSION = 3
SELECTOR_VERSION = 2
"""Of plans with selectors until version 3, which has a flag for them."""
OLDEST_VERSION = 1
UNDECIDED = 0xFFFF
FORWARD = 0xFFFE
RULE_END, RULE_CONSTANT, RULE_FRAME_POINTER = 0, 1, 2
MOST_STEPS = 256
"""Return addresses that a walk reads at most."""
MOST_GROUPS = 4096
MOST_MODULES = 4096
MOST_STATES = 1 << 24
MOST_OBJECT_BYTES = 1 << 16
MOST_STEP_BYTES = 1 << 20
MOST_SITES = 256
MOST_SITES_OF_CONJUNCTION = 12
MOST_CONJUNCTIONS = 1 << 16
MAX_RELAXATIONS = 1 << 20
LEAST_SITE_OFFSET = 5
"""A call instruction fits before a return address."""
NO_OFFSET = 1 << 47
"""No program has an address from here on."""
REUSE_NEWEST, REUSE_CHUNKS = 0, 1


class PlanModule(NamedTuple):
    """A module by build-id (hex, 1 to 32 bytes). The path is not in the compact form."""

    build_id: str
    path: str = ""


class PlanGroup(NamedTuple):
    """How a group's pool behaves."""

    huge_pages: bool
    reuse: int
    by_size: bool = False


class State(NamedTuple):
    """One state of the decision trie.

    `rbp_saved_below` is 0 where `rbp` needs no restoring; `alignment` is 0 where it follows from
    the size. State 0 is the root: parent, module, offset and rule are 0.
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

    `immediate`: it calls the allocator itself.
    """

    module: int
    offset: int
    step: int
    immediate: bool = False


class Conjunction(NamedTuple):
    """An allocation is the group's while all of these call sites, by number, are active."""

    group: int
    alignment: int
    sites: tuple[int, ...]


class Selectors(NamedTuple):
    """What identifies groups instead of states: the first conjunction that holds decides."""

    sites: tuple[PlanSite, ...]
    conjunctions: tuple[Conjunction, ...]


@dataclass(frozen=True)
class SelectorReview:
    """What came of figure 10: `unreachable` members have no call site that can be redirected.

    `not_redirected` counts the call sites on the stacks of groups that cannot be, by cause;
    `immediate` those among `sites` that call the allocator itself, and need not be.
    """

    sites: int
    immediate: int
    conjunctions: int
    unreachable: tuple[int, ...] = ()
    not_redirected: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Member:
    """A context of a group, for review; `stack` innermost first, cut off where it gets long."""

    context: int
    accesses: int
    allocations: int
    sizes: tuple[tuple[int, int], ...]
    stack: tuple[str, ...]


@dataclass(frozen=True)
class GroupReview:
    """Why a group is one: `coverage` as a share of accesses (0 to 1), `weight` of affinity."""

    reason: str
    coverage: float
    weight: int
    contexts: tuple[Member, ...]


@dataclass(frozen=True)
class Identification:
    """How well the walk tells contexts apart.

    Shares are of the recorded totals, 0 to 1. `undecidable` are the contexts that do not get the
    label their strategy gave them because the walk ends first, `simplified` those that do not
    because the option `simplify` accepts it. `mean_steps`: return addresses read per allocation.
    `ends` counts the call sites at which walks end, by cause. `selectors`: they take the place of
    the walk, and are the reason for what is undecidable.
    """

    states: int
    deepest: int
    mean_steps: float = 0.0
    undecidable: tuple[int, ...] = ()
    undecidable_accesses: float = 0.0
    undecidable_allocations: float = 0.0
    simplified: tuple[int, ...] = ()
    simplified_accesses: float = 0.0
    simplified_allocations: float = 0.0
    ends: Mapping[str, int] = field(default_factory=dict)
    selectors: SelectorReview | None = None


@dataclass(frozen=True)
class Review:
    """What only people read: NAME.plan.json. `alignment`: why blocks are aligned as they are."""

    strategy: str
    parameters: Mapping[str, Any]
    profile: Mapping[str, Any]
    groups: tuple[GroupReview, ...]
    identification: Identification
    alignment: str = ""


@dataclass(frozen=True)
class Plan:
    """A whole plan, for the executable `modules[executable]` alone; None: for any program.

    `review` is None where only the compact form was at hand. `at_random`: every small object goes
    to a group drawn at random, aligned as the root says; there are no other states. Nor are there
    with `selectors`, which then identify groups. `checked` are the modules whose code allows blocks
    at multiples of eight; a process with any other aligns all to 16 bytes.
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
    def is_inert(self) -> bool:
        """Whether every allocation would be forwarded."""
        if self.selectors is not None:
            return not self.selectors.conjunctions
        return not self.at_random and all(state.verdict >= FORWARD for state in self.states)
