"""A recording with contents of objects: what its object trace tells about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from halo.captured.births import Births, Rows
from halo.captured.values import Column
from halo.errors import BadInput
from halo.layouts.contents_file import Contents
from halo.layouts.layout_file import Layout, read_layout
from halo.layouts.replays import ReplayOptions, check_replayer, contents_of, replay
from halo.profile import OBJECT_TRACE, ObjectTrace, Profile
from halo.profile.sections.object_trace import check_file
from halo.schema.layout import Replayed
from halo.settings import Settings

_AGAIN = "record it with: halo record --objects --contents"


@dataclass(frozen=True)
class Recording:
    """Contents and communities of objects, and the trace's numbers of the profile's contexts.

    `communities` finds those of the trace's objects; it is called once, when they are needed.
    """

    contents: Contents
    trace: ObjectTrace
    communities: Callable[[], Layout]

    @cached_property
    def layout(self) -> Layout:
        return self.communities()

    def rows_of(self, contexts: Sequence[int], size: int = 0) -> Rows:
        """Objects of contexts of the profile that have contents, as rows of these, by number.

        Shape (objects). Only objects of `size` bytes count, unless it is 0.
        """
        contents = self.contents
        chosen = np.isin(contents.contexts, self.numbers_of(contexts))
        if size:
            chosen &= contents.sizes == size
        rows = np.flatnonzero(chosen)
        return rows[np.argsort(contents.numbers[rows], kind="stable")]

    def placed(self, rows: Rows) -> tuple[Rows, Rows]:
        """Those of the rows that have a community, and their indices in the layout."""
        if not len(rows) or not len(self._ascending):
            return rows[:0], rows[:0]
        numbers = self.contents.numbers[rows]
        place = np.searchsorted(self._ascending, numbers)
        place = np.minimum(place, len(self._ascending) - 1)
        accessed = self._ascending[place] == numbers
        return rows[accessed], self._order[place[accessed]]

    def numbers_of(self, contexts: Sequence[int]) -> list[int]:
        """The trace's numbers of contexts of the profile."""
        return [self._trace_numbers[at] for at in contexts if at in self._trace_numbers]

    def targets_of(self, rows: Rows, column: Column) -> Rows:
        """The row of the object that begins where each pointer of these rows points; -1: none.

        Of several objects at an address, it is the one that was allocated last before the object
        with the pointer.
        """
        return self._births.rows_at(column, self.contents.numbers[rows])

    @cached_property
    def _trace_numbers(self) -> dict[int, int]:
        return dict(self.trace.contexts)

    @cached_property
    def _births(self) -> Births:
        return Births(self.contents)

    @cached_property
    def _order(self) -> Rows:
        return np.argsort(self.layout.objects)

    @cached_property
    def _ascending(self) -> npt.NDArray[np.uint64]:
        return self.layout.objects[self._order].astype(np.uint64)


def checked_trace(settings: Settings, profile: Profile, user: str) -> ObjectTrace:
    """The object trace of a profile.

    `BadInput` if it has none; the sentence says that `user` needs it. `BadTrace` if the trace is
    not that of the profile, `MissingPart` if what reads it is not built.
    """
    trace = OBJECT_TRACE.of(profile)
    if trace is None:
        raise BadInput(f"The profile has no object trace, which {user} needs; {_AGAIN}")
    check_replayer(settings)
    check_file(trace)
    return trace


def without_contents(trace: ObjectTrace, user: str) -> str:
    """The sentence about a trace without contents of objects."""
    return f"{Path(trace.file).name} has no contents of objects, which {user} needs; {_AGAIN}."


def recording_of(settings: Settings, trace: ObjectTrace, folder: Path) -> Recording:
    """What the trace tells, for which `folder` is as long as it is used."""
    contents = contents_of(settings, Path(trace.file), folder)
    return Recording(contents, trace, lambda: communities_of(settings, trace, folder)[0])


def communities_of(settings: Settings, trace: ObjectTrace, folder: Path) -> tuple[Layout, Replayed]:
    """The hierarchical layout of the trace's objects; `folder` is for files."""
    written = folder / "communities"
    options = ReplayOptions(layout=written, replays=False)
    found = replay(settings, Path(trace.file), options, folder)
    return read_layout(written), found
