"""Small results of `halo study hints`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from halo.studies.hints.document import (
    HintAccuracy,
    HintFeature,
    HintForest,
    HintsDocument,
    TypeHint,
)


def feature(name: str, group: str, gini: float, known: float) -> HintFeature:
    return HintFeature(
        name=name,
        group=group,
        coverage=1.0,
        known_share=known,
        at_birth=known == 1.0,
        gini=gini,
        permutation=gini / 2,
    )


def learnt(name: str, *features: HintFeature) -> TypeHint:
    accuracy = HintAccuracy(top1=0.75, top5=0.96, majority=0.1) if features else None
    return TypeHint(
        type=name,
        objects=100,
        accesses=1000,
        verdict="use hint" if features else "",
        why="",
        level=1,
        classes=17,
        learnt_from=100,
        trees=200,
        forests=(HintForest(100, 0.5, 0.9), HintForest(200, 0.75, 0.96)) if features else (),
        accuracy=accuracy,
        permuted=accuracy,
        known=accuracy,
        features=features,
        unseen=(),
        hint=(),
        call="",
        places=(),
    )


def hints_result(path: Path, *types: TypeHint) -> Path:
    document = HintsDocument(program="/prog", arguments=(), seed=0, complete=True, types=types)
    path.write_bytes(msgspec.json.encode(document))
    return path
