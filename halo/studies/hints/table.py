"""Prints hints: a row for each type, then what was learnt about it, and the call to write."""

from __future__ import annotations

from rich.console import Console

from halo.base.console.terminal import (
    TextColumn,
    TextGrid,
    TextRow,
    make_console,
    show_grid,
    show_prose,
)
from halo.studies.hints.document import HintAccuracy, HintPrediction, HintsDocument, TypeHint

MAX_FEATURES = 8
CUT_SHORT = "The trace is cut short; this is what it tells up to there."


def show_hints(found: HintsDocument) -> None:
    """Prints to stdout."""
    console = make_console()
    show_grid(console, overview(found))
    for one in found.types:
        if one.features:
            console.print()
            _show_type(console, one)
    if found.predicted is not None:
        console.print()
        show_prose(console, predicted_sentence(found.predicted))
    if found.predicted_phase is not None:
        show_prose(console, phase_sentence(found.phase, found.predicted_phase))
    if not found.complete:
        console.print()
        show_prose(console, CUT_SHORT)


def overview(found: HintsDocument) -> TextGrid:
    """One row for each type."""
    return TextGrid(
        [
            TextColumn("type"),
            TextColumn("objects", figures=True),
            TextColumn("accesses", figures=True),
            TextColumn("verdict"),
        ],
        [
            TextRow((one.type, f"{one.objects:,}", f"{one.accesses:,}", one.verdict or one.why))
            for one in found.types
        ],
        "Types, the most accessed first",
    )


def features_table(one: TypeHint) -> TextGrid:
    """The most important features, and the noise column."""
    shown = [
        feature
        for place, feature in enumerate(one.features)
        if place < MAX_FEATURES or feature.group == "noise"
    ]
    return TextGrid(
        [
            TextColumn("feature"),
            TextColumn("group"),
            TextColumn("known at birth"),
            TextColumn("permutation", figures=True),
            TextColumn("gini", figures=True),
            TextColumn("coverage", figures=True),
        ],
        [
            TextRow(
                (
                    feature.name,
                    feature.group,
                    "yes" if feature.at_birth else f"{feature.known_share:.0%}",
                    f"{feature.permutation:.3f}",
                    f"{feature.gini:.3f}",
                    f"{feature.coverage:.0%}",
                )
            )
            for feature in shown
        ],
        f"{one.type}: what predicts the community",
    )


def learnt_sentence(one: TypeHint) -> str:
    """The accuracies, and what they are compared with."""
    assert one.accuracy is not None and one.permuted is not None and one.known is not None
    return (
        f"{one.learnt_from:,} objects in {one.classes} communities of level {one.level}:"
        f" {_accuracy(one.accuracy)}; the largest community has {one.accuracy.majority:.1%}."
        f" With permuted labels: {_accuracy(one.permuted)}."
        f" Fields known at birth alone: {_accuracy(one.known)}."
    )


def unseen_sentence(one: TypeHint) -> str:
    """The fields without values, and what helps."""
    return (
        f"The trace shows few values of {', '.join(one.unseen)}: they are copied, or accessed as"
        " parts of vectors, which -fno-slp-vectorize avoids."
    )


def predicted_sentence(found: HintPrediction) -> str:
    """What placing by the hints changes in the model."""
    recorded, ignored = _ratios(found)
    return (
        f"If Tidy placed these objects by their hints, the modelled cycles of all misses would be"
        f" {recorded} times those recorded, and {ignored} times those of the same objects placed in"
        " the order of their allocation."
    )


def phase_sentence(function: str, found: HintPrediction) -> str:
    """The same in a phase of the program."""
    recorded, ignored = _ratios(found)
    return (
        f"From the first entry into {function} to the last exit, they would be {recorded} times"
        f" those recorded, and {ignored} times those of the order of allocation."
    )


def _ratios(found: HintPrediction) -> tuple[str, str]:
    """The cycles with hints over those recorded, and over those with hints ignored."""
    over = (found.recorded, found.ignored)
    recorded, ignored = (f"{found.hinted / max(cycles, 1):.2f}" for cycles in over)
    return recorded, ignored


def _accuracy(accuracy: HintAccuracy) -> str:
    return f"top-1 {accuracy.top1:.1%}, top-5 {accuracy.top5:.1%}"


def _show_type(console: Console, one: TypeHint) -> None:
    show_grid(console, features_table(one))
    show_prose(console, learnt_sentence(one))
    if one.unseen:
        show_prose(console, unseen_sentence(one))
    show_prose(console, f"{one.verdict}: {one.why}")
    if one.call:
        show_prose(console, f"{', '.join(one.places)}: {one.call}")
