"""Maps a call stack of one build to the corresponding stacks of another build."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from halo.record.profile.model import Module, Profile
from halo.record.transfer.steps import Build, CallStep

MAX_STACKS = 64
MAX_CHAINS = 4096  # of which many may have the same reduced stack
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
        steps: list[CallStep | Address] = []
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
        for carried in islice(self._chains(steps), MAX_CHAINS):
            found.setdefault(_reduced(carried))
            if len(found) == MAX_STACKS:
                break
        return list(found)

    def _chains(self, steps: Sequence[CallStep | Address]) -> Iterator[tuple[Address, ...]]:
        """The sequences of addresses that represent all steps, depth first."""
        dead: set[tuple[int, int]] = set()  # places from which nothing leads to the end
        open_places = [_Place((0, 0), None, self._choices(steps, 0, 0))]
        while open_places:
            place = open_places[-1]
            choice = next(place.choices, None)
            if choice is None:
                open_places.pop()
                if not place.leads_on:
                    dead.add(place.at)
                elif open_places:
                    open_places[-1].leads_on = True
                continue
            address, at = choice
            if at[0] == len(steps):
                place.leads_on = True
                taken = (*(it.address for it in open_places), address)
                yield tuple(it for it in taken if it is not None)
            elif at not in dead:
                open_places.append(_Place(at, address, self._choices(steps, *at)))

    def _choices(
        self, steps: Sequence[CallStep | Address], at: int, skipped: int
    ) -> Iterator[tuple[Address | None, tuple[int, int]]]:
        """What may represent the next steps, none for a skipped one, and the place after them."""
        step = steps[at]
        if not isinstance(step, CallStep):
            yield step, (at + 1, 0)
            return
        ahead = _steps_from(steps, at)
        sites = self._new_build.fitting(ahead)
        for site in sites:
            yield (self._new, site.return_address), (at + len(site.steps), 0)
        # The other build may have a tail jump in place of this call, also within inlined code.
        if not sites and skipped < _MAX_SKIPPED and len(ahead) > 1:
            yield None, (at + 1, skipped + 1)


@dataclass
class _Place:
    """A number of represented steps and of skipped calls before it, and the address before it."""

    at: tuple[int, int]
    address: Address | None
    choices: Iterator[tuple[Address | None, tuple[int, int]]]
    leads_on: bool = False  # to the end


def _steps_from(steps: Sequence[CallStep | Address], at: int) -> list[CallStep]:
    found = []
    for step in steps[at:]:
        if not isinstance(step, CallStep):
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
