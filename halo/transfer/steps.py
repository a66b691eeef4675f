"""Call stacks in terms of the source: the same for each build, whatever a compiler inlined."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from halo.elf.call_list import Call, calls_among
from halo.elf.disassembly import instructions_of
from halo.elf.positions import Position, positions_in

_LINES_APART = 2


@dataclass(frozen=True)
class Step:
    """A call in the source, and the called function; `callee` is empty if it is unknown."""

    position: Position
    callee: str

    def fits(self, other: Step, lines_apart: int) -> bool:
        """Whether both can be the same call; compilers differ in the line of a multi-line call."""
        mine, theirs = self.position, other.position
        return (
            (mine.function, mine.file) == (theirs.function, theirs.file)
            and abs(mine.line - theirs.line) <= lines_apart
            and (not self.callee or not other.callee or self.callee == other.callee)
        )


@dataclass(frozen=True)
class Site:
    """A call instruction of a build: its return address, and its calls in the source.

    `steps` are innermost first: the call itself, then the calls that were inlined around it.
    """

    return_address: int
    steps: tuple[Step, ...]


class Build:
    """The calls of one file, with their places in the source."""

    def __init__(self, sites: Iterable[Site]) -> None:
        self.sites: Mapping[int, Site] = {site.return_address: site for site in sites}
        self._by_function: defaultdict[str, list[Site]] = defaultdict(list)
        for site in self.sites.values():
            self._by_function[site.steps[0].position.function].append(site)

    def fitting(self, steps: Sequence[Step]) -> list[Site]:
        """The calls that represent the first of these steps; those on the exact lines, if any."""
        candidates = self._by_function.get(steps[0].position.function, [])
        for lines_apart in (0, _LINES_APART):
            found = [site for site in candidates if _begins(steps, site, lines_apart)]
            if found:
                return found
        return []


def _begins(steps: Sequence[Step], site: Site, lines_apart: int) -> bool:
    return len(site.steps) <= len(steps) and all(
        mine.fits(theirs, lines_apart)
        for mine, theirs in zip(site.steps, steps[: len(site.steps)], strict=True)
    )


def read_build(path: str) -> Build:
    """The calls of a file that have debug information."""
    calls = list(calls_among(instructions_of(path)))
    positions = positions_in(path, (call.return_address for call in calls))
    sites = (
        _site(call, positions[call.return_address])
        for call in calls
        if call.return_address in positions
    )
    return Build(sites)


def _site(call: Call, positions: Sequence[Position]) -> Site:
    callees = [call.callee, *(position.function for position in positions)]
    return Site(
        call.return_address,
        tuple(Step(position, callee) for position, callee in zip(positions, callees, strict=False)),
    )
