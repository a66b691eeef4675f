"""The call sites that allocate objects of one size, and what they store into them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from halo.captured.refusals import MIN_OBJECTS, MIN_SHARE, Refusal, Refusals
from halo.elf.image import opened_image
from halo.locations import BirthStores, birth_stores, value_at
from halo.plan.callsites import is_as_recorded
from halo.plan.hints.layout import MAX_HINT_BYTES
from halo.profile import Module, Profile

WIDTHS = (1, 2, 4, 8)
MIN_SAME_SIZE = 0.9
"""Share of a call site's allocations that must have one size."""


@dataclass(frozen=True)
class Field:
    """A field of an object, by its place: `offset` and `width` in bytes."""

    offset: int
    width: int


@dataclass(frozen=True)
class CallSite:
    """A call of the allocator by its return address, an ELF virtual address of the module.

    `contexts` are those of the profile whose innermost frame it is. Nearly all of its objects have
    `bytes` bytes.
    """

    module: Module
    offset: int
    bytes: int
    contexts: tuple[int, ...]
    allocations: int
    accesses: int
    stores: BirthStores

    @property
    def fields(self) -> frozenset[Field]:
        """The fields whose values are known at the call."""
        places = {Field(one.offset, one.width) for one in self.stores.stores}
        return frozenset(
            place
            for place in places
            if place.width in WIDTHS and value_at(self.stores, place.offset, place.width)
        )


@dataclass(frozen=True)
class Kind:
    """Objects that are taken to be of one type: equally large, with the same known fields."""

    sites: tuple[CallSite, ...]
    fields: tuple[Field, ...]

    @property
    def bytes(self) -> int:
        return self.sites[0].bytes

    @property
    def total_bytes(self) -> int:
        """Of all recorded objects."""
        return self.bytes * self.allocations

    @property
    def allocations(self) -> int:
        return sum(site.allocations for site in self.sites)

    @property
    def name(self) -> str:
        """A name that no other kind of the profile has."""
        first = self.sites[0]
        return f"{first.module.build_id[:8]}+{first.offset:x}"

    @property
    def contexts(self) -> tuple[int, ...]:
        return tuple(at for site in self.sites for at in site.contexts)


@dataclass(frozen=True)
class SurveyedSite:
    """A call of the allocator by its frame in the profile; -1: its caller is unknown.

    `site` is None if its code or its objects rule out a hint. `refusal` is why it has none so far:
    None if it belongs to a kind.
    """

    frame: int
    contexts: tuple[int, ...]
    allocations: int
    accesses: int
    site: CallSite | None = None
    refusal: Refusal | None = None

    @property
    def obstacle(self) -> str:
        """The refusal as a sentence; empty if there is none."""
        if self.refusal is None:
            return ""
        if self.refusal is Refusal.UNKNOWN and self.site:
            reason = self.site.stores.reason
            return self.refusal.of_site(f"the code behind it is followed up to {reason}")
        return self.refusal.of_site()


@dataclass(frozen=True)
class Survey:
    """All call sites, in the order of their first contexts.

    `kinds` are those with known fields and enough objects, the most accessed first.
    """

    sites: tuple[SurveyedSite, ...] = ()
    kinds: tuple[Kind, ...] = ()

    @property
    def refused(self) -> Refusals:
        """Why call sites with MIN_SHARE of the accesses are of no kind."""
        refusals = (one.refusal for one in self.sites)
        return Counter(why for why in refusals if why not in (None, Refusal.RARE))


def survey(profile: Profile) -> Survey:
    """Studies the call sites with MIN_SHARE of the accesses."""
    members: dict[int, list[int]] = defaultdict(list)
    for at, context in enumerate(profile.contexts):
        if context.allocations:
            members[next(profile.stack(at), -1)].append(at)
    sites = [_surveyed(profile, frame, tuple(contexts)) for frame, contexts in members.items()]
    all_kinds = _kinds_of(one.site for one in sites if one.site)
    few = {
        site.contexts for kind in all_kinds if kind.allocations < MIN_OBJECTS for site in kind.sites
    }
    return Survey(
        tuple(replace(it, refusal=Refusal.FEW) if it.contexts in few else it for it in sites),
        tuple(kind for kind in all_kinds if kind.allocations >= MIN_OBJECTS),
    )


def _kinds_of(sites: Iterable[CallSite]) -> list[Kind]:
    """The kinds with known fields, the most accessed first."""
    found: dict[tuple[int, frozenset[Field]], list[CallSite]] = defaultdict(list)
    for site in sites:
        if fields := site.fields:
            found[site.bytes, fields].append(site)
    kinds = [
        Kind(tuple(sites), tuple(sorted(fields, key=lambda one: (one.offset, one.width))))
        for (_, fields), sites in found.items()
    ]
    return sorted(kinds, key=lambda one: (-sum(it.accesses for it in one.sites), one.name))


def _surveyed(profile: Profile, frame: int, contexts: tuple[int, ...]) -> SurveyedSite:
    allocations = sum(profile.contexts[at].allocations for at in contexts)
    accesses = sum(profile.contexts[at].accesses for at in contexts)
    found = SurveyedSite(frame, contexts, allocations, accesses)
    if accesses < max(MIN_SHARE * profile.accesses, 1):
        return replace(found, refusal=Refusal.RARE)
    module, offset = _code_of(profile, frame)
    if module is None or not module.build_id or not is_as_recorded(module):
        return replace(found, refusal=Refusal.MODULE)
    size = _one_size(profile.contexts[at].sizes for at in contexts)
    if not 0 < size <= MAX_HINT_BYTES:
        return replace(found, refusal=Refusal.SIZES)
    image = opened_image(module.path)
    if image is None:
        return replace(found, refusal=Refusal.MODULE)
    stores = birth_stores(image, offset)
    site = CallSite(module, offset, size, contexts, allocations, accesses, stores)
    return replace(found, site=site, refusal=None if site.fields else Refusal.UNKNOWN)


def _code_of(profile: Profile, frame: int) -> tuple[Module | None, int]:
    """The module and the offset of a frame; None if they are unknown."""
    if frame < 0 or profile.frames[frame].module < 0:
        return None, 0
    return profile.modules[profile.frames[frame].module], profile.frames[frame].offset


def _one_size(all_sizes: Iterable[Sequence[tuple[int, int]]]) -> int:
    """The size of nearly all objects; 0 if there is none."""
    counts: Counter[int] = Counter()
    for sizes in all_sizes:
        for size, count in sizes:
            counts[size] += count
    if not counts:
        return 0
    size, count = max(counts.items(), key=lambda one: (one[1], one[0]))
    return size if count >= MIN_SAME_SIZE * counts.total() else 0
