"""What the runs of a job depend on, for the keys of the journal."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from halo.measure.runs.job import Job, digest, option_words

Version: TypeAlias = tuple[int, int, int]
"""Inode, nanoseconds of the last change, and size of a file."""


class JobInputs:
    """The inputs of jobs: program, options, and the files that their arguments name.

    Files that the job's own first runs write are outputs, and do not count. The others count with
    their content when it is first asked for, so that all stages of a session agree.
    """

    def __init__(self) -> None:
        self._before: dict[Job, dict[Path, Version]] = {}
        self._found: dict[Job, dict[str, Any]] = {}

    def begin(self, job: Job) -> None:
        """Notes the files as they are before the job's first runs."""
        self._before[job] = {path: _version(path) for path in _files(job)}

    def of(self, job: Job) -> dict[str, Any]:
        """The inputs of the job's runs."""
        if job not in self._found:
            self._found[job] = {
                "program": digest(job.target.path),
                "arguments": list(job.arguments),
                "files": [digest(path) for path in _files(job) if self._is_input(job, path)],
                "options": option_words(replace(job, stdin=None, timeout=None)),
            }
        return self._found[job]

    def files_of(self, job: Job) -> dict[str, str]:
        """The digests of the files that the job reads, by absolute paths."""
        read = [path for path in _files(job) if self._is_input(job, path)]
        return {os.path.abspath(path): digest(path) for path in read}

    def _is_input(self, job: Job, path: Path) -> bool:
        before = self._before.get(job)
        return before is None or before.get(path) == _version(path)


def _files(job: Job) -> list[Path]:
    """The files that the job may read, by its options and arguments, except compared ones."""
    load = job.service.load.words if job.service else ()
    named = [Path(word) for word in (*job.arguments, *load) if os.path.isfile(word)]
    compared = {os.path.realpath(path) for path in job.compared}
    read = [path for path in named if os.path.realpath(path) not in compared]
    return [job.stdin, *read] if job.stdin is not None else read


def _version(path: Path) -> Version:
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size
