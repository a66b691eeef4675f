"""Maps a call stack of one build to the corresponding stacks of another build."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from halo.profile.model import Module, Profile
from halo.transfer.steps import Build, Step

MAX_STACKS = 64
_MAX_SKIPPED = 8

Address = tuple[Module, int]
"""A return address: its file, and its ELF virtual address there."""


class StackCarrier:
    """Maps stacks, innermost return address first, from one build of a file to another.

    A stack is split into its calls in the source, inlined ones included. Each sequence of call
    instructions of the other build that represents these calls is a corresponding stack. Return
    addresses in other files are kept. A call without debug information, such as the one of main,
    ends the stack, and its outer part is dropped. A call may be a tail jump in the other build,
    which has no return address; tail jumps of the recorded build are not recorded.
    """

    def __init__(self, old: Module, old_build: Build, new: Module, new_build: Build) -> None:
        self._old, self._new = old, new
        self._old_build, self._new_build = old_build, new_build

    def carry(self, stack: Sequence[Address]) -> list[tuple[Address, ...]]:
        """At most `MAX_STACKS` stacks; none if a call has no counterpart."""
        steps: list[Step | Address] = []
        for module, offset in stack:
            if module != self._old:
                steps.append((module, offset))
                continue
            site = self._old_build.sites.get(offset)
            if site is None:
                break
            steps.extend(site.steps)
        if not steps:
            return []
        found: dict[tuple[Address, ...], None] = {}
        for carried in self._chains(steps, 0, 0):
            found.setdefault(_reduced(carried))
            if len(found) == MAX_STACKS:
                break
        return list(found)

    def _chains(
        self, steps: Sequence[Step | Address], at: int, skipped: int
    ) -> Iterator[tuple[Address, ...]]:
        if at == len(steps):
            yield ()
            return
        step = steps[at]
        if not isinstance(step, Step):
            for rest in self._chains(steps, at + 1, 0):
                yield (step, *rest)
            return
        ahead = _steps_from(steps, at)
        sites = self._new_build.fitting(ahead)
        for site in sites:
            for rest in self._chains(steps, at + len(site.steps), 0):
                yield ((self._new, site.return_address), *rest)
        # The other build may have a tail jump in place of this call, also within inlined code.
        if not sites and skipped < _MAX_SKIPPED and len(ahead) > 1:
            yield from self._chains(steps, at + 1, skipped + 1)


def _steps_from(steps: Sequence[Step | Address], at: int) -> list[Step]:
    found = []
    for step in steps[at:]:
        if not isinstance(step, Step):
            break
        found.append(step)
    return found


def _reduced(stack: Sequence[Address]) -> tuple[Address, ...]:
    """The reduced stack: only the innermost of equal return addresses (HALO, section 4.1)."""
    return tuple(dict.fromkeys(stack))


def stack_of(profile: Profile, context: int) -> list[Address]:
    """A context's reduced stack by file and offset, the caller of malloc first."""
    unknown = Module("", "")
    frames = (profile.frames[at] for at in profile.stack(context))
    return [
        (profile.modules[frame.module] if frame.module >= 0 else unknown, frame.offset)
        for frame in frames
    ]
