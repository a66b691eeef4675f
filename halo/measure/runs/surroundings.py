"""The user's commands before and after each run of a job, which are not timed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from halo.measure.runs.failures import ProgramFailed, last_words
from halo.measure.runs.job import Job


@contextmanager
def surroundings(job: Job, environment: Mapping[str, str]) -> Iterator[None]:
    """Runs `--prepare` before and `--cleanup` after the run, by /bin/sh, without a plan.

    `environment` is the user's. Raises `ProgramFailed` with the last lines of one that fails.
    """
    _execute("--prepare", job.prepare, environment)
    try:
        yield
    except BaseException:
        with suppress(ProgramFailed):  # the first failure is the one to report
            _execute("--cleanup", job.cleanup, environment)
        raise
    _execute("--cleanup", job.cleanup, environment)


def _execute(option: str, command: str, environment: Mapping[str, str]) -> None:
    if not command:
        return
    with TemporaryDirectory(prefix="halo-") as folder:
        output = Path(folder, "output")
        with output.open("wb") as stream:
            users = {k: v for k, v in environment.items() if not k.startswith("HALO_")}
            done = subprocess.run(
                ["/bin/sh", "-c", command],
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                env=users,
                check=False,
            )
        if done.returncode:
            how = f"ended with status {done.returncode}"
            if done.returncode < 0:
                how = f"died by signal {-done.returncode}"
            raise ProgramFailed(f"The command of {option} {how}{last_words(output)}.")
