"""What the first runs of a job warn of."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from halo.base.schema.trial import Trial
from halo.binary.process.target import Target
from halo.measure.first_runs import run_first
from halo.measure.runs.job import Configuration, Job
from halo.measure.services.service import Service, parse_load

JOB = Job(Target(Path("/bin/sh"), "sh"), ("7777",))
NATIVE = Configuration("glibc", {})


def remarks(job: Job, wall: float) -> list[str]:
    runner = SimpleNamespace(
        consider_slices=lambda *_: "", measure=lambda *_: Trial(wall, wall, 0.0, 1)
    )
    launcher = SimpleNamespace(pid=os.getpid())
    found = run_first(cast(Any, runner), cast(Any, launcher), job, NATIVE, place_objects=False)
    return [remark for remark in found.remarks if "too short" in remark]


def test_a_short_run_is_worth_a_warning() -> None:
    assert remarks(JOB, 0.06) == []
    (remark,) = remarks(JOB, 0.012)
    assert remark.startswith("sh 7777 takes 12 ms, too short to measure")


def test_of_a_service_the_load_is_too_short() -> None:
    job = replace(JOB, service=Service(parse_load("sh -c 'exit 0'")))
    (remark,) = remarks(job, 0.012)
    assert remark.startswith("The load sh -c 'exit 0' takes 12 ms, too short to measure")


def test_each_run_is_told_with_the_seconds_of_those_that_have_ended() -> None:
    told: list[Sequence[float]] = []
    ended: list[float] = []

    def measure(*_: Any) -> Trial:
        assert told[-1] == ended and len(told) == len(ended) + 1
        ended.append(0.3 + 0.1 * len(ended))
        return Trial(ended[-1], 0.3, 0.0, 1)

    runner = SimpleNamespace(consider_slices=lambda *_: "", measure=measure)
    launcher = SimpleNamespace(pid=os.getpid())
    run_first(cast(Any, runner), cast(Any, launcher), JOB, NATIVE, begin_run=told.append)
    assert len(told) == len(ended) >= 2
