"""The stacks of another build that a stack of this one becomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from halo.profile.model import Module, Profile
from halo.transfer.steps import Build, Step

MOST_STACKS = 64
_MOST_SKIPPED = 8

Address = tuple[Module, int]
"""A return address: its file, and the offset there."""


class StackCarrier:
    """Carries stacks, innermost return address first, from one build of a file to another.

    A stack is first taken apart into the steps of the source; then each sequence of calls of the
    other build that stands for these steps is a stack that it becomes. Return addresses in other
    files stay as they are. A call without debug information, such as the one of main, ends the
    stack: what lies outside of it is left out. A call may be a jump in the other build, which
    leaves no return address; one that was a jump in the recorded build is not known of.
    """

    def __init__(self, old: Module, old_build: Build, new: Module, new_build: Build) -> None:
        self._old, self._new = old, new
        self._old_build, self._new_build = old_build, new_build

    def carry(self, stack: Sequence[Address]) -> list[tuple[Address, ...]]:
        """At most `MOST_STACKS`; none where a call has no counterpart."""
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
            if len(found) == MOST_STACKS:
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
        # A call in the other build may be a jump, also one in what was inlined there.
        if not sites and skipped < _MOST_SKIPPED and len(ahead) > 1:
            yield from self._chains(steps, at + 1, skipped + 1)


def _steps_from(steps: Sequence[Step | Address], at: int) -> list[Step]:
    found = []
    for step in steps[at:]:
        if not isinstance(step, Step):
            break
        found.append(step)
    return found


def _reduced(stack: Sequence[Address]) -> tuple[Address, ...]:
    """Of a repeated return address only the innermost counts (HALO, section 4.1)."""
    return tuple(dict.fromkeys(stack))


def stack_of(profile: Profile, context: int) -> list[Address]:
    """A context's reduced stack by file and offset, the caller of malloc first."""
    unknown = Module("", "")
    frames = (profile.frames[at] for at in profile.stack(context))
    return [
        (profile.modules[frame.module] if frame.module >= 0 else unknown, frame.offset)
        for frame in frames
    ]
