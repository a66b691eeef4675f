"""The document of `halo study hints`: which fields predict with what objects are used."""

from __future__ import annotations

from msgspec import Struct

from halo.base.schema.values import Count, Positive, Seed, Share

FORMAT, VERSION = "halo-hints", 1


class HintAccuracy(Struct, frozen=True, kw_only=True):
    """How often a forest is right, by cross validation."""

    top1: Share  # objects whose community is predicted
    top5: Share  # objects whose community is among the five likeliest
    majority: Share  # objects in the largest community


class HintForest(Struct, frozen=True):
    """The forest of that many trees, on the objects and features of the type."""

    trees: Count  # its size
    top1: Share  # objects whose community is predicted
    top5: Share  # objects whose community is among the five likeliest


class HintFeature(Struct, frozen=True, kw_only=True):
    """A column that the forest learnt from."""

    name: str  # a field, `pointer->field` of a neighbour, or a fact of the object
    group: str  # `primary`, `secondary`, `meta` or `noise`
    coverage: Share  # objects for which the trace shows a value
    known_share: Share  # of these: those for which it is known at birth
    at_birth: bool  # whether that is enough to be a hint
    gini: float  # importance, of all that add up to 1
    permutation: float  # top-1 accuracy that is lost if the column is permuted


class HintDimension(Struct, frozen=True):
    """A dimension of a hint."""

    field: str  # whose value is passed
    width: Positive  # of an interval, in the field's unit
    owner: str = ""  # the type that has the field: of the object, or of a neighbour
    path: tuple[Count, ...] = ()  # bytes to the value: in the object, and behind each pointer
    scalar: str = ""  # of the value: `i32`, `u8`, `f64` and so on


class TypeHint(Struct, frozen=True, kw_only=True):
    """The verdict about a type; fields about learning are empty if nothing was learnt."""

    type: str  # its name
    objects: Count  # in the trace, arrays included
    accesses: Count  # to them
    verdict: str  # one of the closed set of docs/hints.md; empty: it could not be judged
    why: str  # one sentence
    level: Count  # of the communities that were predicted, the finest is 1; 0: none
    classes: Count  # communities at that level
    learnt_from: Count  # objects
    trees: Count  # of the best forest
    forests: tuple[HintForest, ...]  # all that were tried, the smallest first
    accuracy: HintAccuracy | None  # of all features, by the best forest
    permuted: HintAccuracy | None  # with permuted labels, their 99th percentile
    known: HintAccuracy | None  # of the fields that are known at birth
    features: tuple[HintFeature, ...]  # the most important first
    unseen: tuple[str, ...]  # fields of which the trace shows few values
    hint: tuple[HintDimension, ...]  # empty: none
    call: str  # the allocator call to write; empty: none
    places: tuple[str, ...]  # allocations to change, as FILE:LINE


class HintPrediction(Struct, frozen=True, kw_only=True):
    """Modelled cycles of misses of the run or a phase, if Tidy placed objects with a hint."""

    recorded: Count  # as the program was recorded
    ignored: Count  # in Tidy's memory, in the order of allocation
    hinted: Count  # placed by all hints


class HintsDocument(Struct, frozen=True, kw_only=True):
    """The output of `halo study hints --json`."""

    format: str = FORMAT  # `halo-hints`
    version: int = VERSION  # 1
    program: str  # its path
    arguments: tuple[str, ...]  # of the traced run
    seed: Seed  # of all random choices
    complete: bool  # whether the trace reaches the end of the process
    types: tuple[TypeHint, ...]  # the most accessed first
    predicted: HintPrediction | None = None  # without a hint, and of earlier results: not known
    phase: str = ""  # the function given as --phase, or empty
    predicted_phase: HintPrediction | None = None  # of the phase; without one: not known
