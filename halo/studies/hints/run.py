"""Makes hints from a type-aware trace: object trace, communities, dataset, and a study by type."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from halo.base.errors import BadInput, BadTrace
from halo.base.settings import Settings
from halo.studies.hints.contexts import with_equal_widths
from halo.studies.hints.document import HintPrediction, HintsDocument, TypeHint
from halo.studies.hints.features import FeatureReader, ObjectIndex
from halo.studies.hints.forest import TREES, Learner, check_learner
from halo.studies.hints.kinds import Kind, singles, survey
from halo.studies.hints.leaves import FieldTable, Shape, shape_of
from halo.studies.hints.object_keys import Keys, keys_of, write_keys
from halo.studies.hints.study import Samples, Study, unjudged
from halo.studies.layouts.document import Replayed
from halo.studies.layouts.layout_file import Layout, read_layout
from halo.studies.layouts.replays import ReplayOptions, check_replayer, replay
from halo.studies.layouts.typed_trace import TypedTrace, is_typed, objects_of
from halo.studies.tracing.analyses.folder import open_folder
from halo.studies.tracing.analyses.names import first_names
from halo.studies.tracing.analyses.trace_tables import TraceTables
from halo.studies.tracing.columns import convert
from halo.studies.tracing.reader import check_there

EVERY_TYPE = "*"
MIN_SHARE = 0.01
"""Share of the accesses from which a type is studied."""


@dataclass(frozen=True)
class HintOptions:
    """`types` is a glob of type names. `level` of the communities, 0: the best. `depth` is the
    number of pointers to follow, `trees` the sizes of forests to try."""

    types: str = EVERY_TYPE
    level: int = 0
    seed: int = 0
    depth: int = 1
    trees: tuple[int, ...] = TREES


@dataclass(frozen=True)
class Prepared:
    """The object trace of a type-aware trace, its communities and its dataset."""

    traced: TypedTrace
    layout: Layout
    dataset: Path
    phase: str = ""


def prepare(settings: Settings, trace: Path, folder: Path, phase: str = "") -> Prepared:
    """Converts a trace; `BadTrace` if it is none or damaged, `BadInput` if it has no objects.

    `phase` is a function, of which the prediction is made apart: `BadInput` if it is not entered,
    or without an access. The communities are those of the whole run in any case.
    """
    check_replayer(settings)
    check_there(trace)
    if not is_typed(trace):
        raise BadTrace(
            f"{trace} is not a type-aware trace; build the program with halo-cc -g, and run it"
            " with: halo study trace run"
        )
    traced = objects_of(settings, trace, folder, phase)
    layout = folder / "communities"
    options = ReplayOptions(layout=layout, replays=False, whole_graph=True)
    found = replay(settings, traced.objects, options, folder)
    if not found.accessed_objects:
        raise BadInput(f"{trace} has no accesses to heap objects, so there is nothing to place.")
    if phase and not found.phase:
        raise BadInput(
            f"{trace} has no access between an entry into {phase} and its exit: it may be inlined,"
            " or its name may be another one; `halo study trace show` names those that are entered"
        )
    dataset = folder / "dataset"
    convert(settings, [str(trace)], dataset, keep_damaged=False)
    return Prepared(traced, read_layout(layout), dataset, phase)


def find_hints(
    settings: Settings,
    prepared: Prepared,
    options: HintOptions,
    folder: Path,
    tell: Callable[[str], None],
) -> HintsDocument:
    """The verdicts about the types of a trace; `tell` hears each type's name before its study."""
    check_learner()
    jobs = len(os.sched_getaffinity(0))
    tables = TraceTables(open_folder(prepared.dataset), folder, jobs)
    with closing(tables):
        known = survey(tables)
        kinds = [one for one in known if fnmatchcase(one.type, options.types)]
        _check(known, kinds, options)
        least = MIN_SHARE * sum(one.accesses for one in kinds)
        reader = FeatureReader(tables, FieldTable(tables), ObjectIndex(tables), options.depth)
        learner = Learner(options.seed, jobs, options.trees)
        found: list[TypeHint] = []
        shapes: dict[str, Shape] = {}
        for kind in kinds:
            if kind.accesses < least:
                found.append(unjudged(kind, f"It has less than {MIN_SHARE:.0%} of the accesses."))
                continue
            tell(kind.type)
            shape = shape_of(tables, reader.fields, kind.type)
            features = partial(reader.read, kind.type, shape)
            places = partial(reader.index.places, tables, kind.type)
            study = Study(kind, features, places, learner, options.level)
            found.append(study.judge(_samples(tables, prepared.layout, kind)))
            shapes[kind.type] = shape
        found = with_equal_widths(found)
        keys = [_keys(reader, shapes[one.type], one) for one in found if one.hint]
        replays = _predict(settings, prepared, keys, folder).replays if keys else ()
    return HintsDocument(
        program=str(prepared.traced.program),
        arguments=prepared.traced.arguments,
        seed=options.seed,
        complete=prepared.traced.complete,
        types=tuple(found),
        predicted=_prediction(one.run_cycles for one in replays) if replays else None,
        phase=prepared.phase,
        predicted_phase=(
            _prediction(one.cycles for one in replays) if replays and prepared.phase else None
        ),
    )


def _keys(reader: FeatureReader, shape: Shape, one: TypeHint) -> tuple[npt.NDArray[np.int64], Keys]:
    """All objects of the type that are not arrays, and their keys by its hint."""
    objects = reader.index.singles(one.type)
    found = {it.name: it for it in reader.read(one.type, shape, objects)}
    return objects, keys_of(one.hint, [found[dim.field].values for dim in one.hint])


def _predict(
    settings: Settings,
    prepared: Prepared,
    keys: Sequence[tuple[npt.NDArray[np.int64], Keys]],
    folder: Path,
) -> Replayed:
    """The traced run as recorded, and if Tidy placed the objects without and with these keys."""
    file = folder / "keys"
    write_keys(keys, file)
    return replay(settings, prepared.traced.objects, ReplayOptions(keys=file), folder)


def _prediction(cycles: Iterable[int]) -> HintPrediction:
    recorded, ignored, hinted = cycles
    return HintPrediction(recorded=recorded, ignored=ignored, hinted=hinted)


def _check(known: list[Kind], kinds: list[Kind], options: HintOptions) -> None:
    if not known:
        raise BadInput(
            "The trace has no accessed heap objects with a known type; types need debug"
            " information: halo-cc -g."
        )
    if not kinds:
        raise BadInput(
            f"No accessed heap object has a type that matches {options.types}; the trace has:"
            f" {first_names([one.type for one in known])}."
        )


def _samples(tables: TraceTables, layout: Layout, kind: Kind) -> Samples:
    """The accessed objects of a type that are not arrays."""
    own = singles(tables, layout, kind.type)
    return Samples(layout.objects[own].astype(np.int64), layout.communities[:, own])
