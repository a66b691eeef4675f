"""A program that does things while its pages are armed, and its plan."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from halo.binary.process.watch import watch_refusal
from halo.plan.model import Spans
from support.command import REPOSITORY, compile_c
from support.spans import plan_of_large, record_large
from support.watched import WATCH, Armed

SOURCES = REPOSITORY / "tests" / "programs" / "watching"


@pytest.fixture(scope="session")
def armed_program(tmp_path_factory: pytest.TempPathFactory) -> Armed:
    folder = tmp_path_factory.mktemp("armed")
    keep = ("-fno-inline", "-fno-optimize-sibling-calls", "-pthread")
    program = compile_c((SOURCES / "armed.c").read_text(), folder / "armed", *keep)
    profile = record_large([str(program), "memory", "0"], folder / "armed.profile")
    plan_of_large(profile, Spans(1 << 22), folder / "armed.plan")
    return Armed(program, folder / "armed.plan")


@pytest.fixture
def armed(armed_program: Armed, tmp_path: Path) -> Armed:
    """With a plan in a folder of the test's own, for what the program leaves."""
    return Armed(armed_program.program, Path(shutil.copy(armed_program.plan, tmp_path / "a.plan")))


@pytest.fixture(scope="session")
def traps() -> None:
    """Skips the test if this machine has no traps, and says why."""
    reason = watch_refusal(WATCH)
    if reason:
        pytest.skip(reason)


@pytest.fixture(scope="session")
def refusing_call(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = (SOURCES / "refusing_call.c").read_text()
    return compile_c(source, tmp_path_factory.mktemp("refusing") / "refusing_call")
