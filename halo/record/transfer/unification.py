"""Merges contexts that another build does not distinguish; numbers stacks for a profile."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from halo.record.profile.model import DISTANCE_UNSEEN, Context, Frame, Module, Profile
from halo.record.profile.sections.registry import sections_without_stacks
from halo.record.profile.usage import combine, top_sizes
from halo.record.transfer.stacks import Address

Stack = tuple[Address, ...]


def unify(
    profile: Profile, stacks: Sequence[Sequence[Stack]]
) -> tuple[Profile, list[tuple[Stack, ...]], list[int]]:
    """The profile with contexts that share a stack merged, and the distinct stacks of each.

    The numbers are the new id of each old context. `stacks` holds, by context id, the corresponding
    stacks in the other build. Merged contexts are
    in the order of their first member. Hot data streams and simulations are dropped, as they refer
    to the old contexts.
    """
    owner: dict[Stack, int] = {}
    first = list(range(len(stacks)))  # by context: an earlier one that it is merged with

    def root(at: int) -> int:
        while first[at] != at:
            at = first[at]
        return at

    for at, found in enumerate(stacks):
        for stack in found:
            low, high = sorted((root(owner.setdefault(stack, at)), root(at)))
            first[high] = low
    members: defaultdict[int, list[int]] = defaultdict(list)
    for at in range(len(stacks)):
        members[root(at)].append(at)
    number = {at: index for index, each in enumerate(members.values()) for at in each}
    weights: Counter[tuple[int, int]] = Counter()
    for a, b, weight in profile.edges:
        low, high = sorted((number[a], number[b]))
        weights[low, high] += weight
    unified = replace(
        profile,
        contexts=tuple(_one([profile.contexts[at] for at in each]) for each in members.values()),
        edges=tuple((a, b, weight) for (a, b), weight in sorted(weights.items())),
        sections=sections_without_stacks(profile),
    )
    stacks_of = [
        tuple(dict.fromkeys(stack for at in each for stack in stacks[at]))
        for each in members.values()
    ]
    return unified, stacks_of, [number[at] for at in range(len(stacks))]


def _one(contexts: Sequence[Context]) -> Context:
    whole = contexts[0]
    sizes: Counter[int] = Counter(dict(whole.sizes))
    for context in contexts[1:]:
        whole = combine(whole, context)
        sizes.update(dict(context.sizes))
    return replace(whole, sizes=top_sizes(sizes))


class StackNumbers:
    """Builds the modules, frames and nodes of a profile, each without duplicates."""

    def __init__(self) -> None:
        self.modules: dict[Module, int] = {}
        self.frames: list[Frame] = []
        self.nodes: list[tuple[int, int]] = [(0, -1)]
        self._frame_of: dict[Address, int] = {}
        self._node_of: dict[tuple[int, int], int] = {}

    def node_of(self, stack: Stack) -> int:
        """The node of a stack, innermost return address first."""
        node = 0
        for address in reversed(stack):
            link = (node, self._frame(address))
            if link not in self._node_of:
                self._node_of[link] = len(self.nodes)
                self.nodes.append(link)
            node = self._node_of[link]
        return node

    def _frame(self, address: Address) -> int:
        if address not in self._frame_of:
            module, offset = address
            at = self.modules.setdefault(module, len(self.modules)) if module.path else -1
            self._frame_of[address] = len(self.frames)
            self.frames.append(Frame(at, offset, DISTANCE_UNSEEN))
        return self._frame_of[address]
