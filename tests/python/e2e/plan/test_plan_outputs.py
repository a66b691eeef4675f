"""`halo plan` never overwrites the recording that it reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from halo.record.profile import write_profile
from support.command import halo
from support.samples.plan import Sample


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    sample = Sample()
    sample.add([16, 48], accesses=9)
    for name in ("p.profile", "p.plan"):
        write_profile(sample.profile(), tmp_path / name)
    return tmp_path


@pytest.mark.parametrize(
    "words", [("p.profile", "-o", "p.profile"), ("p.plan",), ("p.profile", "-o", "./p.profile")]
)
def test_a_profile_is_not_overwritten_by_its_plan(recorded: Path, words: tuple[str, ...]) -> None:
    before = (recorded / words[0]).read_bytes()
    outcome = halo("plan", *words, cwd=recorded)
    assert (outcome.status, outcome.stderr.count("\n")) == (117, 1)
    assert (recorded / words[0]).read_bytes() == before


@pytest.mark.parametrize("name", ["p.plan", "p.plan.json"])
def test_a_plan_is_not_mistaken_for_a_profile(recorded: Path, name: str) -> None:
    assert halo("plan", "p.profile", "-o", "p.plan", cwd=recorded).status == 0
    before = (recorded / name).read_bytes()
    outcome = halo("plan", name, cwd=recorded)
    assert (outcome.status, outcome.stderr.count("\n")) == (115, 1)
    assert f"{name} is a halo plan" in outcome.stderr and "not a profile" in outcome.stderr
    assert "overwritten" not in outcome.stderr
    assert (recorded / name).read_bytes() == before


@pytest.mark.parametrize("name", ["", "."])
def test_an_empty_name_is_not_an_internal_error(recorded: Path, name: str) -> None:
    outcome = halo("plan", name, cwd=recorded)
    assert outcome.status == 115
    assert "Unexpected" not in outcome.stderr
