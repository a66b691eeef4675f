"""The call sites that allocate objects of one size, and what they store into them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

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
class Survey:
    """The kinds with known fields and enough objects, the most accessed first.

    `refused` has the other call sites.
    """

    kinds: tuple[Kind, ...] = ()
    refused: Refusals = field(default_factory=Counter)


def survey(profile: Profile) -> Survey:
    """Studies the call sites with MIN_SHARE of the accesses."""
    found: dict[tuple[int, frozenset[Field]], list[CallSite]] = defaultdict(list)
    refused: Refusals = Counter()
    for site in _call_sites(profile):
        if isinstance(site, Refusal):
            refused[site] += 1
        elif fields := site.fields:
            found[site.bytes, fields].append(site)
        else:
            refused[Refusal.UNKNOWN] += 1
    all_kinds = [
        Kind(tuple(sites), tuple(sorted(fields, key=lambda one: (one.offset, one.width))))
        for (_, fields), sites in found.items()
    ]
    all_kinds.sort(key=lambda one: (-sum(it.accesses for it in one.sites), one.name))
    kinds = [kind for kind in all_kinds if kind.allocations >= MIN_OBJECTS]
    few = sum(len(kind.sites) for kind in all_kinds if kind.allocations < MIN_OBJECTS)
    refused += Counter({Refusal.FEW: few})
    return Survey(tuple(kinds), refused)


def _call_sites(profile: Profile) -> Iterator[CallSite | Refusal]:
    """The call sites with MIN_SHARE of the accesses, if their objects have one small size."""
    contexts: dict[int, list[int]] = defaultdict(list)
    for at, context in enumerate(profile.contexts):
        if context.allocations:
            contexts[next(profile.stack(at), -1)].append(at)
    least = MIN_SHARE * profile.accesses
    for frame_at, members in contexts.items():
        accesses = sum(profile.contexts[at].accesses for at in members)
        if accesses < max(least, 1):
            continue
        frame = profile.frames[frame_at] if frame_at >= 0 else None
        module = profile.modules[frame.module] if frame and frame.module >= 0 else None
        if frame is None or module is None or not module.build_id or not is_as_recorded(module):
            yield Refusal.MODULE
            continue
        size = _one_size(profile.contexts[at].sizes for at in members)
        if not 0 < size <= MAX_HINT_BYTES:
            yield Refusal.SIZES
            continue
        stores = _stores(module.path, frame.offset)
        allocations = sum(profile.contexts[at].allocations for at in members)
        if stores is None:
            yield Refusal.MODULE
            continue
        place = (module, frame.offset, size)
        yield CallSite(*place, tuple(members), allocations, accesses, stores)


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


def _stores(path: str, offset: int) -> BirthStores | None:
    image = opened_image(path)
    return birth_stores(image, offset) if image else None
