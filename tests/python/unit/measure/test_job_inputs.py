"""What the journal takes for the inputs of a job's runs: not what these runs write."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from halo.binary.process.target import Target
from halo.measure.job_inputs import JobInputs
from halo.measure.runs.job import Job
from halo.measure.services.service import Load, Ready, Service
from halo.measure.session import relevant_variables


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "prog"
    path.write_bytes(b"program")
    return path


def test_jobs_that_run_otherwise_have_other_inputs(program: Path) -> None:
    load = Load(program, ("load", "7"))
    first = Job(Target(program, "prog"), ("1",))
    others = [
        replace(first, arguments=("2",)),
        replace(first, stdin=program),
        replace(first, compared=(program,)),
        replace(first, allowed=frozenset({0, 4})),
        replace(first, ignore_output=True),
        *(
            replace(first, service=Service(load, ready, stop))
            for ready in (Ready(), Ready("tcp", "7"))
            for stop in (signal.SIGTERM, signal.SIGINT)
        ),
    ]
    inputs = [json.dumps(JobInputs().of(job)) for job in (first, *others)]
    assert len(set(inputs)) == len(inputs)
    limited = replace(first, timeout=9.0)
    assert json.dumps(JobInputs().of(limited)) == inputs[0], "a limit changes no time"


def test_an_argument_that_is_too_long_for_a_path_names_no_file(program: Path) -> None:
    job = Job(Target(program, "prog"), ("." * 300, str(program.parent)))
    assert JobInputs().of(job)["files"] == []


def inputs_of(job: Job, content: str, written: Path) -> dict[str, object]:
    """Those of a session whose first runs write that content."""
    inputs = JobInputs()
    inputs.begin(job)
    written.write_text(content)
    found = inputs.of(job)
    written.write_text("by a later run")
    assert inputs.of(job) == found
    return found


def test_files_that_the_program_writes_do_not_count(program: Path) -> None:
    """So that a resumed measurement has the same ones, whatever an earlier run has left."""
    read, written = program.with_name("in"), program.with_name("out")
    read.write_text("1")
    job = Job(Target(program, "prog"), (str(read), "-o", str(written)))
    found = [inputs_of(job, content, written) for content in ("first", "second", "second")]
    assert found[0] == found[1] == found[2]
    assert len(found[0]["files"]) == 1  # type: ignore[arg-type]
    read.write_text("2")
    assert inputs_of(job, "second", written) != found[2]


def test_compared_files_do_not_count(program: Path) -> None:
    """They are written by the program, if it is correct."""
    written = program.with_name("out")
    written.write_text("old")
    job = Job(Target(program, "prog"), (str(written), "x"), compared=(written,))
    assert JobInputs().of(job)["files"] == []


def test_variables_for_allocators_and_those_that_halo_sets_count() -> None:
    users = {"HOME": "/h", "MALLOC_CONF": "narenas:1", "LD_PRELOAD": "lib.so", "TERM": "xterm"}
    found = relevant_variables({**users, "PYTHONHASHSEED": "0", "TERM": "dumb"}, users)
    assert found == {
        "MALLOC_CONF": "narenas:1",
        "LD_PRELOAD": "lib.so",
        "PYTHONHASHSEED": "0",
        "TERM": "dumb",
    }
