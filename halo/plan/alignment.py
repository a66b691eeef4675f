"""How strictly the blocks of a leaf are aligned."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cached_property

from halo.alignment import Proof, prove_alignment, unproved
from halo.profile.model import Context, Profile

BY_SIZE = 0
_ABI = 16

ProofSource = Callable[[Profile, bool], Proof]
"""What is proved of a recorded program; True: also if it loads libraries at run time."""


def proof_of_program(profile: Profile, trust_loaded: bool) -> Proof:
    """The proof from the files of the recorded program and of its libraries."""
    path = os.path.realpath(profile.program) if profile.program else ""
    for module in profile.modules:
        if module.path == path:
            return prove_alignment(module, profile.process_modules, trust_loaded)
    return unproved("the profile does not name its program")


class Aligner:
    """Decides for each leaf of a plan; what it needs proved is proved once, if ever."""

    def __init__(
        self, few_sizes: int, relax: bool, for_any_program: bool, prove: Callable[[], Proof]
    ) -> None:
        self._few_sizes = few_sizes
        self._relax = relax
        self._for_any_program = for_any_program
        self._prove = prove
        self._asked = False

    def of(self, contexts: Iterable[Context]) -> int:
        """The least alignment in bytes of the blocks of these contexts; 0: derived from the size.

        By size (8 bytes for a 24-byte object) only if it is proved that the program's code allows
        it. Then it is a question of speed: contexts whose objects were seen to be read by aligned
        vector instructions, and array-like ones of more than `few_sizes` sizes, keep the ABI's 16
        bytes, so that vectors lie in one cache line. So do large ones, which may be stacks, unless
        these are `of_all` objects alike.
        """
        members = list(contexts)
        vectors = any(context.alignment != 0 for context in members)
        if vectors or not all(it.few_sizes(self._few_sizes) for it in members):
            return _ABI
        self._asked = True
        return _ABI if self.proof.obstacle else BY_SIZE

    def wherever_proved(self) -> int:
        """The same for all objects, where any speed of vectors is up to the clock."""
        if self._few_sizes == 0:
            return _ABI
        self._asked = True
        return _ABI if self.proof.obstacle else BY_SIZE

    @property
    def reason(self) -> str:
        """Why blocks are aligned as they are, for review."""
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
        """What is proved; nothing if no leaf needed it."""
        if not self._asked:
            return unproved("")
        if self._for_any_program:
            return unproved("the plan is for any program")
        proof = self._prove()
        if proof.relaxations and not self._relax:
            return unproved(f"{proof.relaxations} instructions would have to be relaxed")
        return proof
