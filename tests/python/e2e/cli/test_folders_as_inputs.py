"""A folder stands for what it holds: its plan, its profile, its results; a profile: its trace."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from halo.base.errors import BadInput, BadProfile
from halo.cli.shared.in_results import plan_argument, profile_argument
from support.command import compile_c, halo
from support.programs.sources import LIST
from support.samples.results import document, save


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder `r` with a kept plan, of a program whose objects were traced."""
    folder = tmp_path_factory.mktemp("in")
    compile_c(LIST, folder / "list")
    recorded = halo("record", "--objects", "-o", "list.profile", "--", "./list", "300", cwd=folder)
    assert recorded.status == 7, recorded.stderr
    save(document(), folder / "r")
    planned = halo("plan", "list.profile", "--strategy", "dense", "-o", "r/halo.plan", cwd=folder)
    assert planned.status == 0, planned.stderr
    shutil.copy(folder / "list.profile", folder / "r" / "train.profile")
    return folder


def test_a_results_folder_stands_for_its_kept_plan(folder: Path) -> None:
    done = halo("exec", "--plan", "r", "--allocator", "glibc", "--print-env", cwd=folder)
    assert done.status == 0, done.stderr
    assert f"HALO_PLAN={folder}/r/halo.plan" in done.stdout.splitlines()
    options = ("--seconds", "2", "--allow-status", "7", "--allocator", "glibc")
    check = halo("check", "--plan", "r", *options, "--", "./list", "300", cwd=folder)
    assert check.status in (0, 1, 2), check.stderr
    assert "with halo.plan over glibc" in check.stdout
    update = halo("update", "r", "-o", "new.plan", cwd=folder)
    assert update.status == 0, update.stderr
    predicted = halo("study", "eval", "predict", "list.profile", "r", cwd=folder)
    assert predicted.status == 0 and "r/halo.plan" in predicted.stdout, predicted.stderr


def test_a_results_folder_stands_for_its_profile(folder: Path) -> None:
    planned = halo("plan", "r", "-o", "again.plan", cwd=folder)
    assert planned.status == 0, planned.stderr
    assert (folder / "again.plan").exists()


def test_other_folders_are_named(tmp_path: Path) -> None:
    (tmp_path / "deployed").mkdir()
    (tmp_path / "deployed" / "list.plan").touch()
    assert plan_argument(f"{tmp_path}/deployed") == tmp_path / "deployed" / "list.plan"
    with pytest.raises(BadInput, match=r"no plans and no results\.json; give the plan"):
        plan_argument(str(tmp_path))
    with pytest.raises(BadInput, match="No plan was kept in the results folder"):
        plan_argument(str(save(document(kept="none"), tmp_path / "none")))
    with pytest.raises(BadProfile, match=r"a folder without a train\.profile"):
        profile_argument(str(tmp_path))


@pytest.mark.parametrize("command", ["layout", "locality"])
def test_a_profile_stands_for_its_object_trace(folder: Path, command: str) -> None:
    (trace,) = folder.glob("*.objects")
    by_trace, by_profile, by_folder = (
        halo(command, str(name), cwd=folder) for name in (trace, "list.profile", "r")
    )
    assert by_trace.status in (0, 1), by_trace.stderr
    for other in (by_profile, by_folder):
        assert other.status == by_trace.status, other.stderr
        assert other.stdout.splitlines()[-1] == by_trace.stdout.splitlines()[-1]


def test_a_profile_without_an_object_trace_says_how_to_record_one(folder: Path) -> None:
    assert halo("record", "-o", "plain.profile", "--", "./list", "30", cwd=folder).status == 7
    outcome = halo("study", "layout", "plain.profile", cwd=folder)
    assert outcome.status == 121
    assert "has no object trace; record it with: halo record --objects" in outcome.stderr


def test_a_figure_of_one_document_refuses_a_folder_with_what_to_give(folder: Path) -> None:
    outcome = halo("plot", "split", "r", cwd=folder)
    assert outcome.status == 117
    assert "r is a folder; give" in outcome.stderr
