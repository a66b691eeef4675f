"""Which groups of a plan request huge pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from halo.record.profile.model import Profile

NEVER, HOT, ALL = CHOICES = ("never", "hot", "all")

COLD = 0.25  # maximum accesses per byte of a cold group, over those of all groups


def requesting(
    profile: Profile, groups: Sequence[Iterable[int]], which: str, minimum: int
) -> list[bool]:
    """Whether each group, given by its contexts, requests huge pages.

    `which` is one of `CHOICES`. A group is hot unless it has few accesses for its size, which is
    the sum of its contexts' peaks. If the groups that would request huge pages have less than
    `minimum` bytes together, none does: they share slabs of 2 MiB, which are in memory as a whole.
    """
    contexts = profile.contexts
    members = [[contexts[at] for at in group] for group in groups]
    sizes = [sum(it.peak_live_bytes for it in group) for group in members]
    accesses = [sum(it.accesses for it in group) for group in members]
    cold = COLD * sum(accesses) / max(1, sum(sizes))
    chosen = [
        which == ALL or (which == HOT and count >= cold * size)
        for size, count in zip(sizes, accesses, strict=True)
    ]
    total = sum(size for size, is_chosen in zip(sizes, chosen, strict=True) if is_chosen)
    return [is_chosen and total >= minimum for is_chosen in chosen]
