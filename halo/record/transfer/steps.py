"""Call stacks in terms of the source: the same for each build, whatever a compiler inlined."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from halo.binary.elf.call_list import Call, calls_among
from halo.binary.elf.calls import PF_X
from halo.binary.elf.disassembly import instructions_of
from halo.binary.elf.image import PT_LOAD, opened_image
from halo.binary.elf.positions import Position, positions_in
from halo.record.profile import SOURCE_CALLS, Profile, SourceCall, SourceCalls

MAX_DISASSEMBLED = 16 << 20  # bytes of code, which take seconds
_LINES_APART = 2  # compilers differ in the line of a call that has several


@dataclass(frozen=True)
class CallStep:
    """A call in the source, and the called function; `callee` is empty if it is unknown."""

    position: Position
    callee: str

    def fits(self, other: CallStep, near: Near) -> bool:
        """Whether both can be the same call, if their lines are as `near` demands."""
        mine, theirs = self.position, other.position
        return (
            (mine.function, mine.file) == (theirs.function, theirs.file)
            and (not self.callee or not other.callee or self.callee == other.callee)
            and near(mine, theirs)
        )


Near = Callable[[Position, Position], bool]


def _lines_into(position: Position) -> int | None:
    """Lines from the beginning of the function; edits before the function do not change them."""
    return position.line - position.first if position.first else None


def _in_place(mine: Position, theirs: Position) -> bool:
    return mine.line == theirs.line and _lines_into(mine) == _lines_into(theirs)


def _moved_with_function(mine: Position, theirs: Position) -> bool:
    into = _lines_into(mine)
    return into is not None and into == _lines_into(theirs)


def _on_line(mine: Position, theirs: Position) -> bool:
    return mine.line == theirs.line


def _lines_apart(mine: Position, theirs: Position) -> bool:
    pairs = ((mine.line, theirs.line), (_lines_into(mine), _lines_into(theirs)))
    return any(
        one is not None and other is not None and abs(one - other) <= _LINES_APART
        for one, other in pairs
    )


def _anywhere(mine: Position, theirs: Position) -> bool:
    return True


_NEAREST_FIRST: Sequence[Near] = (_in_place, _moved_with_function, _on_line, _lines_apart)


@dataclass(frozen=True)
class Site:
    """A call instruction of a build: its return address, and its calls in the source.

    `steps` are innermost first: the call itself, then the calls that were inlined around it.
    """

    return_address: int
    steps: tuple[CallStep, ...]


class Build:
    """The calls of one file, with their places in the source."""

    def __init__(self, sites: Iterable[Site]) -> None:
        self.sites: Mapping[int, Site] = {site.return_address: site for site in sites}
        self._by_function: defaultdict[str, list[Site]] = defaultdict(list)
        for site in self.sites.values():
            self._by_function[site.steps[0].position.function].append(site)

    def fitting(self, steps: Sequence[CallStep]) -> list[Site]:
        """The calls that represent the first of these steps, by the nearest lines.

        If there are none, the source was edited there. The only call of that callee in the function
        then counts, wherever it is.
        """
        candidates = self._by_function.get(steps[0].position.function, [])
        for near in _NEAREST_FIRST:
            found = [site for site in candidates if _begins(steps, site, near)]
            if found:
                return found
        found = [site for site in candidates if _begins(steps, site, _anywhere)]
        places = {site.steps[0].position for site in found}
        return found if steps[0].callee and len(places) == 1 else []


def _begins(steps: Sequence[CallStep], site: Site, near: Near) -> bool:
    return len(site.steps) <= len(steps) and all(
        mine.fits(theirs, near)
        for mine, theirs in zip(site.steps, steps[: len(site.steps)], strict=True)
    )


def read_build(path: str) -> Build:
    """The calls of a file that have debug information."""
    calls = list(calls_among(instructions_of(path)))
    positions = positions_in(path, (call.return_address for call in calls))
    return Build(
        _site(call, positions[call.return_address])
        for call in calls
        if call.return_address in positions
    )


def recorded_calls(profile: Profile, path: str) -> SourceCalls | None:
    """The calls of the recorded program at `path` that are in contexts, for the profile.

    Only those with debug information; None if there is none. In a large program, callees are not
    looked for.
    """
    wanted = {
        frame.offset
        for frame in profile.frames
        if frame.module >= 0 and profile.modules[frame.module].path == path
    }
    positions = positions_in(path, wanted)
    if not positions:
        return None
    small = _code_bytes(path) <= MAX_DISASSEMBLED
    found = calls_among(instructions_of(path)) if small else ()
    callees = {call.return_address: call.callee for call in found if call.return_address in wanted}
    sites = (_site(Call(at, callees.get(at, "")), positions[at]) for at in sorted(positions))
    return SourceCalls(path, tuple((it.return_address, _as_recorded(it)) for it in sites))


def _as_recorded(site: Site) -> tuple[SourceCall, ...]:
    pairs = ((step.position, step.callee) for step in site.steps)
    return tuple(SourceCall(at.function, at.file, at.line, at.first, to) for at, to in pairs)


def recorded_build(profile: Profile) -> Build | None:
    """The calls of the recorded build, as far as the profile has them; None if it has none."""
    recorded = SOURCE_CALLS.of(profile)
    if recorded is None:
        return None
    return Build(
        Site(
            address,
            tuple(
                CallStep(Position(it.function, it.file, it.line, it.first), it.callee) for it in its
            ),
        )
        for address, its in recorded.calls
    )


def _code_bytes(path: str) -> int:
    image = opened_image(path)
    code = image.segments if image is not None else ()
    return sum(it.file_size for it in code if it.kind == PT_LOAD and it.flags & PF_X)


def _site(call: Call, positions: Sequence[Position]) -> Site:
    callees = [call.callee, *(position.function for position in positions)]
    return Site(
        call.return_address,
        tuple(
            CallStep(position, callee) for position, callee in zip(positions, callees, strict=False)
        ),
    )
