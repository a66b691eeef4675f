"""The document that `halo merge --json` writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from msgspec import UNSET

from halo.base.schema.merge import (
    ContextsApart,
    InputScore,
    LeftOutSection,
    MergedInput,
    MergeDocument,
    PlanCoverage,
)
from halo.plan.merging.inputs import Input, Merged
from halo.plan.merging.score import Score, judge


def merge_document(
    inputs: Sequence[Input], merged: Merged, scores: Sequence[Score], output: Path | None
) -> MergeDocument:
    """The inputs and what became of them; `scores` are by input, or empty."""
    return MergeDocument(
        program=merged.profile.program,
        output=None if output is None else str(output),
        inputs=tuple(
            _input(one, times, scores[at] if scores else None)
            for at, (one, times) in enumerate(zip(inputs, merged.repeats, strict=True))
        ),
        contexts=len(merged.profile.contexts),
        left_out=tuple(LeftOutSection(**asdict(it)) for it in merged.left_out),
        apart=None if merged.apart is None else ContextsApart(**asdict(merged.apart)),
        agreement=judge(scores, [str(one.path) for one in inputs]) if scores else UNSET,
    )


def _input(one: Input, repeats: int, score: Score | None) -> MergedInput:
    return MergedInput(
        profile=str(one.path),
        arguments=one.profile.args,
        accesses=one.profile.accesses,
        weight=one.weight,
        repeats=repeats,
        score=UNSET if score is None else _score(score),
    )


def _score(score: Score) -> InputScore:
    others, every, own = (PlanCoverage(**asdict(it)) for it in (score.others, score.all, score.own))
    return InputScore(others=others, all=every, own=own, kept=score.kept)
