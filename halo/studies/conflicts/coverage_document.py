"""The document of `halo study eval coverage`: states of a training run in a reference run."""

from __future__ import annotations

from msgspec import Struct

from halo.base.schema.values import Count, Share

FORMAT, VERSION = "halo-coverage", 1


class PredictorCoverage(Struct, frozen=True, kw_only=True):
    """How well the states of a predictor recur."""

    predictor: str  # its name
    training: Count  # states in the training run
    both: Count  # states in both runs
    reference: Count  # states in the reference run
    coverage: Share  # state coverage (Yardımcı and Kaeli, section 3.1)
    allocations: Share  # of the reference run's allocations, those whose state is in both runs


class CoverageDocument(Struct, frozen=True, kw_only=True):
    """The output of `halo study eval coverage --json`."""

    format: str = FORMAT  # `halo-coverage`
    version: int = VERSION  # 1
    program: str  # its path
    training: tuple[str, ...]  # arguments of the training run
    reference: tuple[str, ...]  # arguments of the reference run
    predictors: tuple[PredictorCoverage, ...]  # in a fixed order
    unlisted: Share  # of the reference run's allocations, those whose size is not in the profile
