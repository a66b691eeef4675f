"""The call sites of a profile: which ones a plan can match, and the walk rule of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache

from halo.binary.elf import FrameRule, RuleKind, build_id_of, frame_rule
from halo.binary.elf.rules import NO_RULE
from halo.plan.layout import MAX_STEP
from halo.record.profile.model import DISTANCE_UNSEEN, DISTANCE_VARIED, Module, Profile
from halo.record.profile.stacks import merge_distances

UNMATCHABLE = -1

RuleSource = Callable[[Module, int], FrameRule]
"""The rule of a return address; raises `ModuleChangedError` if the file is another build."""


class ModuleChangedError(Exception):
    """The module's file is missing, or is another build than the recorded one."""


@lru_cache(maxsize=1024)
def is_as_recorded(module: Module) -> bool:
    """Whether the module's file is the build that was recorded."""
    return build_id_of(module.path) == module.build_id


def rule_from_file(module: Module, offset: int) -> FrameRule:
    """The rule by the module's call-frame records; `ModuleChangedError` if it is another build."""
    if not is_as_recorded(module):
        raise ModuleChangedError(module.path)
    return frame_rule(module.path, offset)


class CallSites:
    """The profile's frames unified by (build-id, offset), each with a lazily resolved rule.

    `site_of_frame` maps a frame id to its site, or to `UNMATCHABLE` if the module has no build-id:
    a plan cannot name such a return address, so it ends the walk. `sites` are (module, ELF virtual
    address) pairs; `ends` counts the sites at which walks end, by cause.
    """

    def __init__(self, profile: Profile, source: RuleSource, trust_recorded: bool) -> None:
        self._source = source
        self._trust_recorded = trust_recorded
        self._rules: dict[int, FrameRule] = {}
        self.ends: Counter[str] = Counter()
        self.site_of_frame: list[int] = []
        self.sites: list[tuple[Module, int]] = []
        self._distances: list[int] = []
        known: dict[tuple[str, int], int] = {}
        for frame in profile.frames:
            module = profile.modules[frame.module] if frame.module >= 0 else None
            if module is None or not module.build_id:
                self.site_of_frame.append(UNMATCHABLE)
                continue
            key = (module.build_id, frame.offset)
            site = known.setdefault(key, len(self.sites))
            if site == len(self.sites):
                self.sites.append((module, frame.offset))
                self._distances.append(frame.distance)
            else:
                self._distances[site] = merge_distances(self._distances[site], frame.distance)
            self.site_of_frame.append(site)

    def rule(self, site: int) -> FrameRule:
        """The rule from this site to the next, checked against the recorded distance."""
        found = self._rules.get(site)
        if found is None:
            found = self._rules[site] = self._resolve(site)
        return found

    def distance(self, site: int) -> int:
        """Bytes to the next return address if they are constant, or were in the recording; else 0.

        The walk must not use them: a function with a frame pointer may have a frame of another
        size on another input.
        """
        rule = self.rule(site)
        if rule.kind is RuleKind.CONSTANT:
            return rule.step
        recorded = self._distances[site]
        return recorded if rule.kind is RuleKind.FRAME_POINTER and _fits(recorded) else 0

    def _resolve(self, site: int) -> FrameRule:
        distance = self._distances[site]
        try:
            rule = self._source(*self.sites[site])
        except ModuleChangedError:
            self.ends["module changed"] += 1
            return NO_RULE
        if rule.kind is RuleKind.NONE:
            if self._trust_recorded and _fits(distance):
                return FrameRule(RuleKind.CONSTANT, distance, rbp_lost=True)
            self.ends["no frame rule"] += 1
            return NO_RULE
        if rule.kind is RuleKind.CONSTANT and distance not in (DISTANCE_UNSEEN, rule.step):
            cause = "distance varied" if distance == DISTANCE_VARIED else "distance contradicts"
            self.ends[cause] += 1
            return NO_RULE
        if rule.kind is RuleKind.CONSTANT and rule.step > MAX_STEP:
            self.ends["huge frame"] += 1
            return NO_RULE
        return rule


def _fits(distance: int) -> bool:
    """Whether a recorded distance can be that between two return addresses."""
    return DISTANCE_UNSEEN < distance <= MAX_STEP and distance % 8 == 0
