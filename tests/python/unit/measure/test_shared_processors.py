"""Whether a measurement knows that other programs use the processors that its recorder needs."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from halo.base.schema.trial import Trial
from halo.base.settings import read_settings
from halo.binary.process.target import find_target
from halo.measure.findings import Findings
from halo.measure.inputs import unrecorded
from halo.measure.inputs.unrecorded import time_allocators
from halo.measure.reporter import Reporter
from halo.measure.runs import processor_load
from halo.measure.runs.job import Job
from halo.measure.session import MeasurementOptions, Session
from support.samples.findings import MACHINE

SETTINGS = read_settings()
JOB = Job(find_target("true", SETTINGS.environment), ())
LITTERED = {"user_seconds": 2.0, "system_seconds": 1.0}


def is_shared(
    busy: float, litter: Mapping[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> bool:
    """With two processors and four trials of a second, if both were busy that long in 8 s."""
    now = 0.0
    stat = folder / "stat"

    def reach(at: float, busy: float) -> None:
        nonlocal now
        now = at
        stat.write_text(f"cpu0 {round(busy * os.sysconf('SC_CLK_TCK'))} 0 0 0 0 0 0 0 0 0\n")

    def measure(*_: Any) -> dict[str, list[Trial]]:
        reach(8.0, busy)
        trials = [Trial(2.0, 0.75, 0.25, 1000, litter=litter)] * 2
        return {"glibc": trials, "jemalloc": trials}

    monkeypatch.setattr(processor_load, "STAT", stat)
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(unrecorded, "measure", measure)
    reach(0.0, 0.0)
    session = Session(
        SETTINGS,
        MeasurementOptions(11, folder, {}),
        Findings("prog", {}, MACHINE),
        Reporter("prog"),
    )
    with session:
        session.native_seconds[JOB] = 1.0
        time_allocators(session, JOB)
        return session.is_shared


@pytest.mark.parametrize(
    ("busy", "litter", "shared"), [(4.5, {}, False), (12, {}, True), (16, LITTERED, False)]
)
def test_the_work_of_other_programs_while_allocators_are_timed_counts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    busy: float,
    litter: Mapping[str, Any],
    shared: bool,
) -> None:
    assert is_shared(busy, litter, tmp_path, monkeypatch) == shared
