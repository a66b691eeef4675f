"""Builds the decision trie: the shortest stack prefixes that determine a context's group.

docs/plan-format.md and docs/decisions/ describe the trie and its difference from HALO's selectors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from halo.binary.elf import FrameRule, RuleKind
from halo.binary.elf.rules import NO_RULE
from halo.plan.callsites import UNMATCHABLE, CallSites
from halo.plan.layout import VERDICT_FORWARD, VERDICT_UNDECIDED
from halo.record.profile.model import Profile

ROOT = 0


@dataclass
class Draft:
    """A state while the trie is built; `members` are the contexts that this state decides about.

    `path_lost_rbp` and `path_uses_rbp` hold for the path from the root to this state.
    """

    parent: int
    site: int
    depth: int
    verdict: int = VERDICT_UNDECIDED
    rule: FrameRule = NO_RULE
    path_lost_rbp: bool = False
    path_uses_rbp: bool = False
    members: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class TrieLimits:
    """`simplify`: share of accesses and allocations that may be wrong; `max_depth` of a state."""

    simplify: float
    max_depth: int


@dataclass(frozen=True)
class Trie:
    """States, parents first; by context id, the verdict and the depth of the state that has it.

    `simplified` are the ids of contexts with a wrong verdict that the option `simplify` allows.
    """

    states: list[Draft]
    verdicts: list[int]
    depths: list[int]
    simplified: set[int]


class TrieBuilder:
    """Splits the contexts by return address, innermost first, until each part has one label.

    `labels` is the group index or `VERDICT_FORWARD` of each context of the profile.
    """

    def __init__(
        self, profile: Profile, labels: Sequence[int], sites: CallSites, limits: TrieLimits
    ) -> None:
        self.nodes = profile.nodes
        self.contexts = profile.contexts
        self.labels = labels
        self.sites = sites
        self.limits = limits
        self.cursor = [context.node for context in profile.contexts]
        accesses = sum(context.accesses for context in profile.contexts) or 1
        allocations = sum(context.allocations for context in profile.contexts) or 1
        self.weights = [
            context.accesses / accesses + context.allocations / allocations
            for context in profile.contexts
        ]
        self.states = [Draft(ROOT, UNMATCHABLE, 0)]
        self.verdicts = [VERDICT_FORWARD] * len(profile.contexts)
        self.depths = [0] * len(profile.contexts)
        self.simplified: set[int] = set()

    def build(self, members: list[int]) -> Trie:
        """The trie of the contexts `members`; all others count as not recorded."""
        pending = [(ROOT, members)] if members else []
        while pending:
            pending.extend(self._visit(*pending.pop()))
        return Trie(self.states, self.verdicts, self.depths, self.simplified)

    def _visit(self, state: int, members: list[int]) -> list[tuple[int, list[int]]]:
        """Sets a state's verdict, or returns its children with their contexts."""
        draft = self.states[state]
        # Never at the root: callers that were not recorded are forwarded.
        may_decide = state != ROOT
        shares = self._label_shares(members)
        if may_decide and len(shares) <= 1:
            self._decide(draft, members, next(iter(shares), VERDICT_FORWARD))
            return []
        majority = min(shares, key=lambda label: (-shares[label], label != VERDICT_FORWARD, label))
        if may_decide and self._is_negligible(members, majority):
            self.simplified.update(at for at in members if self.labels[at] != majority)
            self._decide(draft, members, majority)
            return []
        if may_decide and not self._can_step(draft):
            self._decide(draft, members, majority)
            return []
        ended, children = self._split(state, members)
        if may_decide and self._better_decided(ended, majority, shares):
            self._decide(draft, members, majority)
            return []
        self._close(ended, VERDICT_FORWARD, draft.depth)
        return [(self._child(state, site), part) for site, part in children.items()]

    def _label_shares(self, members: list[int]) -> dict[int, float]:
        shares: defaultdict[int, float] = defaultdict(float)
        for at in members:
            shares[self.labels[at]] += self.weights[at]
        return shares

    def _is_negligible(self, members: list[int], majority: int) -> bool:
        """True if the option `simplify` allows one verdict for all contexts below this state."""
        if not self.limits.simplify:
            return False
        minority = [at for at in members if self.labels[at] != majority]
        for count in ("accesses", "allocations"):
            part = sum(getattr(self.contexts[at], count) for at in minority)
            whole = sum(getattr(self.contexts[at], count) for at in members)
            if part > self.limits.simplify * whole:
                return False
        return True

    def _can_step(self, draft: Draft) -> bool:
        """Resolves the state's rule; False if the walk has to end.

        After a function that changes `rbp` without a record, a walk must not use `rbp` again, not
        even at a repeated call site further in.
        """
        if draft.depth >= self.limits.max_depth:
            return False
        rule = self.sites.rule(draft.site)
        draft.path_uses_rbp |= rule.kind is RuleKind.FRAME_POINTER
        draft.path_lost_rbp |= rule.rbp_lost
        if rule.kind is RuleKind.NONE or (draft.path_uses_rbp and draft.path_lost_rbp):
            return False
        draft.rule = rule
        return True

    def _better_decided(self, ended: list[int], majority: int, shares: dict[int, float]) -> bool:
        """True if the majority's label for all costs less than forwarding the contexts that end."""
        lost = sum(self.weights[at] for at in ended if self.labels[at] != VERDICT_FORWARD)
        wrong = sum(share for label, share in shares.items() if label != majority)
        return wrong < lost

    def _split(self, state: int, members: list[int]) -> tuple[list[int], dict[int, list[int]]]:
        """Moves each context one call site out: (contexts that end here, the others by site)."""
        ended: list[int] = []
        children: defaultdict[int, list[int]] = defaultdict(list)
        site_of = self.sites.site_of_frame
        waiting = members
        while waiting:
            moved: defaultdict[int, list[int]] = defaultdict(list)
            for at in waiting:
                node = self.cursor[at]
                self.cursor[at], frame = self.nodes[node]
                site = site_of[frame] if node else UNMATCHABLE
                moved[site].append(at)
            ended += moved.pop(UNMATCHABLE, [])
            waiting = []
            for site, part in moved.items():
                if self._on_path(state, site):
                    waiting += part  # a repeated site of an unreduced stack, which the walk skips
                else:
                    children[site] += part
        return ended, children

    def _on_path(self, state: int, site: int) -> bool:
        while state != ROOT:
            if self.states[state].site == site:
                return True
            state = self.states[state].parent
        return False

    def _child(self, parent: int, site: int) -> int:
        above = self.states[parent]
        child = Draft(parent, site, above.depth + 1)
        child.path_lost_rbp, child.path_uses_rbp = above.path_lost_rbp, above.path_uses_rbp
        self.states.append(child)
        return len(self.states) - 1

    def _decide(self, draft: Draft, members: list[int], verdict: int) -> None:
        draft.verdict = verdict
        draft.members = members
        self._close(members, verdict, draft.depth)

    def _close(self, members: list[int], verdict: int, depth: int) -> None:
        for at in members:
            self.verdicts[at] = verdict
            self.depths[at] = depth


def prune(states: list[Draft]) -> list[Draft]:
    """Drops states that lead to no group, as a failed look-up also forwards; renumbers parents."""
    useful = [draft.verdict < VERDICT_FORWARD for draft in states]
    for index in range(len(states) - 1, 0, -1):
        if useful[index]:
            useful[states[index].parent] = True
    useful[ROOT] = True
    numbers: dict[int, int] = {}
    kept: list[Draft] = []
    for index, draft in enumerate(states):
        if useful[index]:
            numbers[index] = len(kept)
            draft.parent = numbers[draft.parent]
            kept.append(draft)
    if len(kept) == 1 and kept[ROOT].verdict == VERDICT_UNDECIDED:
        kept[ROOT].verdict = VERDICT_FORWARD
    return kept


def rbp_to_restore(states: list[Draft]) -> list[int]:
    """By state: bytes from the next slot down to the saved `rbp`; 0 if it need not be restored.

    It has to be restored if any other state on a path through this one steps by `rbp`. States
    further in count, too, as their call sites may repeat further out.
    """
    uses = [
        draft.verdict == VERDICT_UNDECIDED and draft.rule.kind is RuleKind.FRAME_POINTER
        for draft in states
    ]
    outside = uses.copy()
    for index in range(len(states) - 1, 0, -1):
        if outside[index]:
            outside[states[index].parent] = True
    inside = uses.copy()
    for index in range(1, len(states)):
        inside[index] |= inside[states[index].parent]
    return [
        (draft.rule.rbp_saved_below or 0) if draft.verdict == VERDICT_UNDECIDED and (a or b) else 0
        for draft, a, b in zip(states, inside, outside, strict=True)
    ]
