"""Which fields of each kind of objects should be its hint.

A hint is good if objects in the order of its keys are next to others of their community: the
communities are those of Miucin's thesis, section 3.3.3, and the keys are Tidy's. So no model is
trained, and no scikit-learn is needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from halo.captured.births import Rows
from halo.captured.orders import order_by, togetherness
from halo.captured.recording import Recording
from halo.captured.refusals import MIN_OBJECTS, Refusal, Refusals
from halo.captured.sites import Field, Kind
from halo.captured.values import Column, column_of, halves_of
from halo.hints.call import interval_widths
from halo.hints.labels import Classes, usable_levels
from halo.hints.object_keys import keys_of
from halo.locations import value_at
from halo.schema.hints import HintDimension

MAX_DIMENSIONS = 2
CANDIDATES = 6
"""Values of which pairs are tried."""
MIN_BETTER = 0.005
"""By how much the togetherness of a hint must exceed that of one whose values cost less."""
MIN_GAIN = 0.1
"""Share of the neighbours that the order of allocation leaves apart which a hint must join."""


@dataclass(frozen=True)
class KindHint:
    """The hint of a kind, and how well it works.

    `allocated` is the togetherness of the order of allocation, `hinted` that of the hint's.
    `objects` is how many were studied.
    """

    kind: Kind
    hint: tuple[HintDimension, ...]
    objects: int
    allocated: float
    hinted: float


@dataclass(frozen=True)
class Learnt:
    """The hints of kinds, and why the other kinds have none."""

    hints: tuple[KindHint, ...] = ()
    refusals: tuple[tuple[Kind, Refusal], ...] = ()

    @property
    def refused(self) -> Refusals:
        """The call sites of these other kinds."""
        found: Refusals = Counter()
        for kind, why in self.refusals:
            found[why] += len(kind.sites)
        return found


@dataclass(frozen=True)
class _Value:
    """A number of each object by which it could be placed, and where it comes from."""

    dimension: HintDimension
    numbers: npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Sample:
    """The objects of a kind with contents and a community, in the order of their allocation."""

    kind: Kind
    rows: Rows
    levels: tuple[Classes, ...]


class _Learner:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._contents = recording.contents

    def rows(self, kind: Kind) -> Rows:
        """The objects of a kind with contents, in the order of their allocation."""
        return self._recording.rows_of(kind.contexts, kind.bytes)

    def has_values(self, kind: Kind, rows: Rows) -> bool:
        """Whether a known field other than a pointer differs between enough objects."""
        if len(rows) < MIN_OBJECTS:
            return False
        return any(_differ(one.numbers) for one in self.columns(kind, rows) if not one.is_pointer)

    def sample(self, kind: Kind, rows: Rows) -> _Sample | Refusal:
        """Those of the objects that are in a community; a refusal if there are too few."""
        rows, place = self._recording.placed(rows)
        if len(rows) < MIN_OBJECTS:
            return Refusal.FEW
        levels = usable_levels(self._recording.layout.communities[:, place])
        return _Sample(kind, rows, tuple(levels)) if levels else Refusal.COMMUNITIES

    def columns(self, kind: Kind, rows: Rows) -> list[Column]:
        """The known fields of objects, which are rows of the contents, and halves of words.

        Those with the shortest programs come first.
        """
        halves = [it for field in kind.fields for it in halves_of(field, self._contents, rows)]
        fields = [*kind.fields, *(it for it in halves if it not in kind.fields)]
        fields.sort(key=lambda field: _cost(kind, field))
        return [column_of(field, self._contents, rows) for field in fields]

    def own_values(self, sample: _Sample) -> Iterator[_Value]:
        """The known fields that are not pointers."""
        for column in self.columns(sample.kind, sample.rows):
            if not column.is_pointer:
                name = f"+{column.field.offset}"
                path = (column.field.offset,)
                dimension = HintDimension(name, 1.0, sample.kind.name, path, column.kind)
                yield _Value(dimension, column.numbers)

    def values_behind(self, sample: _Sample, hinted: Sequence[KindHint]) -> Iterator[_Value]:
        """Behind known pointers to kinds that have a hint: the values of theirs."""
        for column in self.columns(sample.kind, sample.rows):
            if not column.is_pointer:
                continue
            targets = self._recording.targets_of(sample.rows, column)
            for other in hinted:
                yield from self._behind(column, targets, other)

    def _behind(self, column: Column, targets: Rows, other: KindHint) -> Iterator[_Value]:
        numbers = self._recording.numbers_of(other.kind.contexts)
        there = targets >= 0
        there[there] = np.isin(self._contents.contexts[targets[there]], numbers)
        if not there.any():
            return
        for dimension in other.hint:
            if len(dimension.path) != 1:
                continue
            field = Field(dimension.path[0], int(dimension.scalar[1:]) // 8)
            inner = column_of(field, self._contents, targets[there])
            values = np.full(len(targets), np.nan)
            values[there] = inner.numbers
            path = (column.field.offset, dimension.path[0])
            name = f"+{column.field.offset}->{dimension.field}"
            yield _Value(HintDimension(name, 1.0, dimension.owner, path, dimension.scalar), values)

    def best(self, sample: _Sample, values: Sequence[_Value]) -> KindHint | None:
        """The best hint of at most MAX_DIMENSIONS of these values, if it gains enough."""
        allocated = togetherness(np.arange(len(sample.rows)), sample.levels)
        total = sample.kind.total_bytes
        best = allocated
        hint: tuple[HintDimension, ...] = ()
        single: list[tuple[float, int, _Value]] = []
        for value in values:
            if _differ(value.numbers):
                score, dimensions = self._score(sample, (value,), total)
                single.append((score, len(single), value))
                if score > best + MIN_BETTER:
                    best, hint = score, dimensions
        single.sort(key=lambda one: (-one[0], one[1]))
        candidates = [value for _, _, value in single[:CANDIDATES]]
        for pair in combinations(candidates, MAX_DIMENSIONS):
            score, dimensions = self._score(sample, pair, total)
            if score > best + MIN_BETTER:
                best, hint = score, dimensions
        if not hint or best - allocated < MIN_GAIN * (1 - allocated):
            return None
        return KindHint(sample.kind, hint, len(sample.rows), allocated, best)

    def _score(
        self, sample: _Sample, values: Sequence[_Value], total: int
    ) -> tuple[float, tuple[HintDimension, ...]]:
        widths = interval_widths([value.numbers for value in values], total)
        hint = tuple(
            HintDimension(it.dimension.field, width, *_place(it.dimension))
            for it, width in zip(values, widths, strict=True)
        )
        keys = keys_of(hint, [value.numbers for value in values])
        return togetherness(order_by(keys), sample.levels), hint


def _differ(numbers: npt.NDArray[np.float64]) -> bool:
    known = numbers[np.isfinite(numbers)]
    return len(known) > 0 and bool(np.ptp(known) > 0)


def _cost(kind: Kind, field: Field) -> int:
    """The operations that compute a known field, at the call site that needs most."""
    programs = (value_at(site.stores, field.offset, field.width) for site in kind.sites)
    return max(len(program or ()) for program in programs)


def _place(dimension: HintDimension) -> tuple[str, tuple[int, ...], str]:
    return dimension.owner, dimension.path, dimension.scalar


def kinds_with_values(kinds: Sequence[Kind], recording: Recording) -> list[Kind]:
    """The kinds of which a known field other than a pointer differs between enough objects."""
    learner = _Learner(recording)
    return [kind for kind in kinds if learner.has_values(kind, learner.rows(kind))]


def learn_hints(kinds: Sequence[Kind], recording: Recording) -> Learnt:
    """The kinds that a hint helps, in order; values behind pointers are of kinds that have one.

    The communities are found only if a kind has values.
    """
    learner = _Learner(recording)
    rows = [(kind, learner.rows(kind)) for kind in kinds]
    if not any(learner.has_values(*one) for one in rows):
        few, known = Refusal.FEW, Refusal.POINTERS
        return Learnt((), tuple((it, few if len(of) < MIN_OBJECTS else known) for it, of in rows))
    refusals: list[tuple[Kind, Refusal]] = []
    samples = []
    for kind, objects in rows:
        sample = learner.sample(kind, objects)
        if isinstance(sample, Refusal):
            refusals.append((kind, sample))
        else:
            samples.append(sample)
    own = {
        sample.kind.name: hint
        for sample in samples
        if (hint := learner.best(sample, list(learner.own_values(sample))))
    }
    found = []
    for sample in samples:
        mine = own.get(sample.kind.name)
        others = [it for name, it in own.items() if name != sample.kind.name]
        behind = learner.best(sample, list(learner.values_behind(sample, others)))
        if behind and (mine is None or behind.hinted > mine.hinted):
            mine = behind
        if mine:
            found.append(mine)
        else:
            refusals.append((sample.kind, Refusal.UNRELATED))
    return Learnt(tuple(found), tuple(refusals))
