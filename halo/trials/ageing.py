"""Ages the heap of a trial: detects each job's sizes once, then litters with them every time."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

from halo.aging import Litter, LitterLog, detect_environment, read_detection, read_log
from halo.allocators import PLAN_VARIABLE
from halo.errors import RecordingFailed
from halo.settings import Settings
from halo.trials.job import Contender, Job
from halo.trials.launcher import Launcher, Streams


class Ageing:
    """For one laboratory; detections are kept beside the results, the logs in `scratch`."""

    def __init__(self, settings: Settings, launcher: Launcher, scratch: Path, keep: Path) -> None:
        self._settings = settings
        self._launcher = launcher
        self._logs = scratch / "litter"
        self._keep = keep
        self._detected: dict[tuple[Job, str], Path] = {}

    def environment(self, job: Job, contender: Contender) -> dict[str, str]:
        """The contender's environment, with its heap littered as it asks for.

        `RecordingFailed` where the job has no sizes to litter with.
        """
        assert contender.litter is not None
        litter = contender.litter
        plan = contender.environment.get(PLAN_VARIABLE, "") if litter.groups else ""
        litter = replace(litter, groups=bool(plan))
        if litter.data is None and litter.multiplier:
            litter = replace(litter, data=self._detection(job, contender, plan))
        shutil.rmtree(self._logs, ignore_errors=True)
        self._logs.mkdir()
        program = (contender.program or job.target).path
        return litter.environment(
            contender.environment, self._settings.litterer, program, self._logs / "%p"
        )

    def log(self, name: str, pid: int) -> LitterLog:
        """Of that process, just ended, of the program `name`; `LitterFailed` where its heap was
        not aged. Its children, which may be of the same executable, have logs of their own.
        """
        return read_log(self._logs / str(pid), name)

    def only_log(self, name: str) -> LitterLog:
        """The same where the process is not known: of the one that began first."""
        found = [read_log(path, name) for path in self._logs.iterdir()]
        if not found:
            return read_log(self._logs / "none", name)
        return min(found, key=lambda log: log.program_start)

    def _detection(self, job: Job, contender: Contender, plan: str) -> Path:
        """The sizes of the job's own program; by group of the plan, where there is one."""
        if (job, plan) not in self._detected:
            number = len(self._detected) + 1
            path = self._keep / f"detector-{number}.out"
            self._detect(job, contender, path)
            self._detected[job, plan] = path
        return self._detected[job, plan]

    def _detect(self, job: Job, contender: Contender, path: Path) -> None:
        nothing = Path(os.devnull)
        environment = detect_environment(
            contender.environment, self._settings.detector, job.target.path, path
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
                f"{job.target.name} did not run to its end under the detector, or left no sizes of"
                " its allocations to litter with; try halo detect on it to see why."
            )
        if not read_detection(path).allocations:
            raise RecordingFailed(
                f"{job.target.name} ended before it allocated anything: there is nothing to litter"
                " its heap with."
            )


def clean(seed: int | None = None) -> Litter:
    """A heap that is not aged, measured in the same way: from where the program begins."""
    return Litter(multiplier=0, seed=seed)
