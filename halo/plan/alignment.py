"""Chooses the alignment of the blocks that a leaf of the trie decides about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

from halo.binary.alignment import Proof, prove_alignment, unproved
from halo.record.profile import (
    GENERATED_CODE,
    is_recorded,
    is_unlike,
    process_modules,
    recorded_program,
)
from halo.record.profile.model import Context, Profile

BY_SIZE = 0
_ABI = 16
_ALWAYS_ALIGNED = 256
"""Larger blocks are at multiples of 16 in any case (docs/alignment.md)."""

ProofSource = Callable[[Profile, bool], Proof]
"""Proves which alignment a recorded program needs; True: trust libraries loaded at run time."""


def proof_of_program(profile: Profile, trust_loaded: bool) -> Proof:
    """The proof from the files of the recorded program and of its libraries."""
    if not is_recorded(profile):
        return unproved("nothing was recorded, so the modules that it loads are unknown")
    path = recorded_program(profile)
    if GENERATED_CODE.of(profile):
        return unproved(f"{Path(path).name} generates code at run time")
    for module in profile.modules:
        if module.path == path and is_unlike(profile, module):
            return unproved(f"{Path(path).name} has changed since it was recorded")
        if module.path == path:
            return prove_alignment(module, process_modules(profile), trust_loaded)
    return unproved("the profile does not name its program")


class Aligner:
    """Chooses the alignment for each leaf of a plan; runs the proof once, on first use."""

    def __init__(
        self, few_sizes: int, relax: bool, for_any_program: bool, prove: Callable[[], Proof]
    ) -> None:
        self._few_sizes = few_sizes
        self._relax = relax
        self._for_any_program = for_any_program
        self._prove = prove
        self._asked = False
        self._demanded = False

    def of(self, contexts: Iterable[Context]) -> int:
        """The minimum alignment in bytes of these contexts' blocks; 0: derived from the size.

        It is derived from the size (8 bytes for a 24-byte object) only if the program's code
        provably allows that (docs/alignment.md). Contexts whose objects were read by aligned vector
        instructions keep the ABI's 16 bytes for speed, so that a vector is in one cache line. So do
        array-like contexts of more than `few_sizes` sizes, and large ones, which may be stacks.
        """
        members = list(contexts)
        vectors = any(context.alignment != 0 for context in members)
        if vectors or not all(it.few_sizes(self._few_sizes) for it in members):
            return _ABI
        self._asked = True
        return _ABI if self.proof.obstacle else BY_SIZE

    def of_all(self, contexts: Iterable[Context]) -> int:
        """As `of` for the one group of all callers, without the rules that keep 16 bytes for speed.

        A recorded access that demands 16 bytes counts, whatever the proof says: the group cannot
        align the objects of its context alone. One that demands more was to an address that the
        code had aligned itself, as malloc promises no more.
        """
        if self._few_sizes == 0:
            return _ABI
        self._demanded = any(
            it.alignment == _ABI and it.min_size <= _ALWAYS_ALIGNED and it.max_size >= _ABI
            for it in contexts
        )
        self._asked = True
        return _ABI if self.proof.obstacle else BY_SIZE

    @property
    def reason(self) -> str:
        """The reason for the alignment, for review."""
        if not self._asked:
            return "16 bytes: no context has few sizes and no vector accesses"
        if self.proof.obstacle:
            return f"16 bytes: {self.proof.obstacle}"
        return (
            f"8 bytes: the code of {len(self.proof.modules)} modules allows it, with"
            f" {self.proof.relaxations} instructions relaxed"
        )

    @cached_property
    def proof(self) -> Proof:
        """The proof; an empty one if no leaf needed it."""
        if not self._asked:
            return unproved("")
        if self._for_any_program:
            return unproved("the plan is for any program")
        proof = self._prove()
        if self._demanded and not proof.obstacle:
            return unproved("recorded accesses demand it in the only group")
        if proof.relaxations and not self._relax:
            return unproved(f"{proof.relaxations} instructions would have to be relaxed")
        return proof
