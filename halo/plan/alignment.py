"""How strictly a leaf's objects must be aligned."""

from __future__ import annotations

from collections.abc import Iterable

from halo.profile.model import Context

BY_SIZE = 0
_ABI = 16


def alignment_of(contexts: Iterable[Context], few_sizes: int) -> int:
    """The least alignment in bytes of the objects of these contexts; 0: derived from the size.

    By size (8 bytes for a 24-byte object) only where all contexts look like those of objects of a
    type: no alignment-requiring instruction was seen to touch them, and at most `few_sizes`
    distinct sizes account for all allocations. Array-like contexts of varying size keep the ABI's
    16 bytes: another input may run a vector loop over them that this one did not.

    More than that was recorded where a loop, such as those of memcpy, goes on from the first
    address that suits it. No program can rely on it: malloc itself promises 16 bytes.
    """
    members = list(contexts)
    evidence = any(context.alignment != 0 for context in members)
    if not evidence and all(context.few_sizes(few_sizes) for context in members):
        return BY_SIZE
    return _ABI
