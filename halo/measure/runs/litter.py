"""Ages the heap of trials: detects each job's sizes once, then litters with them every time."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

from halo.base.errors import RecordingFailed
from halo.base.settings import Settings
from halo.binary.process.allocators import PLAN_VARIABLE
from halo.measure.aging import Litter, LitterLog, detect_environment, read_detection, read_log
from halo.measure.runs.job import Configuration, Job
from halo.measure.runs.launcher import Launcher, Streams


class HeapAging:
    """Heap aging for a runner; detections are stored with the results, logs in `scratch`."""

    def __init__(self, settings: Settings, launcher: Launcher, scratch: Path, keep: Path) -> None:
        self._settings = settings
        self._launcher = launcher
        self._logs = scratch / "litter"
        self._keep = keep
        self._detected: dict[tuple[Job, str], Path] = {}

    def environment(self, job: Job, config: Configuration) -> dict[str, str]:
        """The configuration's environment with its settings of litter.

        Raises `RecordingFailed` if the job has no sizes to litter with.
        """
        assert config.litter is not None
        litter = config.litter
        plan = config.environment.get(PLAN_VARIABLE, "") if litter.groups else ""
        litter = replace(litter, groups=bool(plan))
        if litter.data is None and litter.multiplier:
            litter = replace(litter, data=self._detection(job, config, plan))
        shutil.rmtree(self._logs, ignore_errors=True)
        self._logs.mkdir()
        program = (config.program or job.target).path
        return litter.environment(
            config.environment, self._settings.litterer, program, self._logs / "%p"
        )

    def log(self, name: str, pid: int) -> LitterLog:
        """The log of a process of the program `name` that has just ended.

        Raises `LitterFailed` if its heap was not aged. Children, which may run the same executable,
        have separate logs.
        """
        return read_log(self._logs / str(pid), name)

    def only_log(self, name: str) -> LitterLog:
        """The log of the first process of a run, if its id is unknown."""
        found = [read_log(path, name) for path in self._logs.iterdir()]
        if not found:
            return read_log(self._logs / "none", name)
        return min(found, key=lambda log: log.program_start)

    def _detection(self, job: Job, config: Configuration, plan: str) -> Path:
        """The file with the sizes of the job's own program; by group if there is a plan."""
        if (job, plan) not in self._detected:
            number = len(self._detected) + 1
            path = self._keep / f"detector-{number}.out"
            self._detect(job, config, path)
            self._detected[job, plan] = path
        return self._detected[job, plan]

    def _detect(self, job: Job, config: Configuration, path: Path) -> None:
        nothing = Path(os.devnull)
        environment = detect_environment(
            config.environment, self._settings.detector, job.target.path, path
        )
        path.unlink(missing_ok=True)
        run = self._launcher.run(
            job.target.path,
            [job.target.name, *job.arguments],
            environment,
            Streams(job.stdin or nothing, nothing, nothing),
        )
        if not path.exists() or run.ending.signal:
            raise RecordingFailed(
                f"{job.target.name} did not run to its end under the detector, or wrote no sizes of"
                " its allocations to litter with; try halo study heap detect on it to see why."
            )
        if not read_detection(path).allocations:
            raise RecordingFailed(
                f"{job.target.name} ended before it allocated anything: there is nothing to litter"
                " its heap with."
            )


def clean(seed: int | None = None) -> Litter:
    """Settings of a clean heap, timed in the same way: from the program's start."""
    return Litter(multiplier=0, seed=seed)
