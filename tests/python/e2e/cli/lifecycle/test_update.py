"""A rebuilt program: `halo exec` says that its plan is stale, `halo update` makes it active."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from halo.record.profile import read_profile, write_profile
from support.command import BUILD, Outcome, halo
from support.programs.rebuilt import (
    LINES_ABOVE,
    LINES_INSIDE,
    RENAMED,
    build,
)

COUNT = 300
Edit = tuple[str, str]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program, its profile and a plan with options, and a copy named kept."""
    folder = tmp_path_factory.mktemp("recorded") / "used"
    folder.mkdir()
    build(folder / "prog")
    assert halo("record", "--", "./prog", str(COUNT), cwd=folder).status == 0
    chosen = ("--strategy", "dense", "--option", "by_size=true", "--option", "huge_pages=never")
    assert halo("plan", *chosen, "prog.profile", cwd=folder).status == 0
    shutil.copytree(folder, folder.with_name("kept"))
    return folder


@pytest.fixture
def folder(recorded: Path) -> Path:
    """The folder as it was: programs are built again where they were recorded."""
    shutil.rmtree(recorded)
    shutil.copytree(recorded.with_name("kept"), recorded)
    return recorded


def stats_of(folder: Path, plan: str) -> dict[str, object]:
    """What the runtime reports when the plan is deployed by variables."""
    stats = folder / "stats.json"
    variables = {
        "LD_PRELOAD": str(BUILD / "lib" / "libhalo.so"),
        "HALO_PLAN": str(folder / plan),
        "HALO_STATS": str(stats),
    }
    subprocess.run(
        [folder / "prog", str(COUNT)], env=variables, check=True, stdout=subprocess.DEVNULL
    )
    found: dict[str, object] = json.loads(stats.read_text())
    return found


def served(folder: Path, plan: str) -> int:
    """Blocks of groups in a run; 0 if the plan is inactive."""
    groups = stats_of(folder, plan).get("groups") or []
    assert isinstance(groups, list)
    return sum(group["allocations"] for group in groups)


def only_line(outcome: Outcome) -> str:
    [line] = outcome.stderr.splitlines()
    return line


@pytest.mark.parametrize(
    "edit", [LINES_ABOVE, LINES_INSIDE, ("return 0;", "return 0; /* */")], ids=repr
)
def test_one_command_makes_the_plan_active_again(folder: Path, edit: Edit) -> None:
    before = served(folder, "prog.plan")
    build(folder / "prog", edit, flags=("-O2",))
    assert stats_of(folder, "prog.plan")["active"] is False
    done = halo("update", "prog.plan", "--for", "./prog", "--in-place", cwd=folder)
    assert (done.status, done.stderr) == (0, "")
    assert "with 100.0% of the recorded accesses" in done.stdout
    assert served(folder, "prog.plan") == before >= COUNT


def test_strategy_and_options_are_those_of_the_plan(folder: Path) -> None:
    old = json.loads((folder / "prog.plan.json").read_text())
    build(folder / "prog", LINES_ABOVE)
    done = halo("update", "prog.plan", "--for", "./prog", "-o", "new.plan", cwd=folder)
    assert done.status == 0, done.stderr
    new = json.loads((folder / "new.plan.json").read_text())
    for key in ("strategy", "parameters", "source"):
        assert new[key] == old[key], key
    assert new["parameters"]["plan"]["by_size"] is True
    old["parameters"]["plan"]["huge_pages"] = False  # as an earlier halo wrote "never"
    (folder / "prog.plan.json").write_text(json.dumps(old))
    done = halo("update", "prog.plan", "--for", "./prog", "-o", "newer.plan", cwd=folder)
    assert done.status == 0, done.stderr
    assert json.loads((folder / "newer.plan.json").read_text())["parameters"] == new["parameters"]
    assert new["modules"] != old["modules"]


def test_it_replaces_nothing_by_default(folder: Path) -> None:
    content = (folder / "prog.plan").read_bytes()
    build(folder / "prog", LINES_ABOVE)
    done = halo("update", "prog.plan", "--for", "./prog", cwd=folder)
    assert done.status == 0 and "prog.plan stays" in done.stdout
    [new] = (path for path in folder.glob("prog-*.plan"))
    assert (folder / "prog.plan").read_bytes() == content
    assert served(folder, new.name) >= COUNT
    assert f"exec --plan {new.name} -- ./prog 300\n" in done.stdout


def test_an_updated_plan_can_be_updated(folder: Path) -> None:
    """From the first recording each time, which stays in the recorded build's addresses."""
    for edit in (LINES_ABOVE, LINES_INSIDE):
        build(folder / "prog", edit)
        assert halo("update", "prog.plan", "--in-place", cwd=folder).status == 0
        assert served(folder, "prog.plan") >= COUNT


def test_the_recorded_build_itself_is_planned_again(folder: Path) -> None:
    done = halo("update", "prog.plan", "--for", "./prog", "-o", "new.plan", cwd=folder)
    assert done.status == 0 and "is the recorded build" in done.stdout
    assert (folder / "new.plan").read_bytes() == (folder / "prog.plan").read_bytes()


def test_a_moved_profile_is_found_beside_the_plan(folder: Path) -> None:
    review = folder / "prog.plan.json"
    document = json.loads(review.read_text())
    document["source"]["file"] = str(folder / "elsewhere" / "prog.profile")
    review.write_text(json.dumps(document))
    build(folder / "prog", LINES_ABOVE)
    assert halo("update", "prog.plan", "--for", "./prog", cwd=folder).status == 0


def test_the_allocator_of_a_measurement_is_kept(folder: Path) -> None:
    summary = {"candidate": "prog", "allocator": "jemalloc"}
    (folder / "summary.json").write_text(json.dumps(summary))
    build(folder / "prog", LINES_ABOVE)
    done = halo("update", "prog.plan", "--for", "./prog", "-o", "new.plan", cwd=folder)
    assert "over jemalloc" in done.stdout and "--allocator jemalloc" in done.stdout
    (folder / "summary.json").unlink()
    again = halo("update", "new.plan", "--for", "./prog", "-o", "newer.plan", cwd=folder)
    assert "--allocator jemalloc" in again.stdout


def test_a_build_elsewhere(folder: Path, tmp_path: Path) -> None:
    """Both builds are there, and the new one has another name."""
    other = build(tmp_path / "prog-2", LINES_ABOVE)
    done = halo("update", "prog.plan", "--for", str(other), "--in-place", cwd=folder)
    assert done.status == 0, done.stderr
    shutil.move(other, folder / "prog")
    assert served(folder, "prog.plan") >= COUNT


def test_a_link_to_the_newest_build(tmp_path: Path) -> None:
    """The link that was recorded leads to another file after the rebuild."""
    link = tmp_path / "prog"
    link.symlink_to(build(tmp_path / "prog-1"))
    assert halo("record", "--", "./prog", str(COUNT), cwd=tmp_path).status == 0
    assert halo("plan", "--strategy", "dense", "prog.profile", cwd=tmp_path).status == 0
    link.unlink()
    link.symlink_to(build(tmp_path / "prog-2", LINES_ABOVE))
    done = halo("update", "prog.plan", "--in-place", cwd=tmp_path)
    assert done.status == 0, done.stderr
    assert served(tmp_path, "prog.plan") >= COUNT


def test_a_part_that_is_lost_is_a_warning(folder: Path) -> None:
    build(folder / "prog", RENAMED)
    done = halo("update", "prog.plan", "--for", "./prog", "-o", "new.plan", cwd=folder)
    assert done.status in (0, 117)
    said = only_line(done)
    assert "record" in said and ("only " in said or "Nothing that prog.plan places" in said)
    assert (folder / "new.plan").exists() == (done.status == 0)


class TestExec:
    def test_it_starts_the_program_and_says_so(self, folder: Path) -> None:
        build(folder / "prog", LINES_ABOVE)
        outcome = halo("exec", "--plan", "prog.plan", "--", "./prog", str(COUNT), cwd=folder)
        assert (outcome.status, outcome.stdout) == (0, f"{COUNT * (COUNT + 1) // 2 + 1}\n")
        said = only_line(outcome)
        assert "another build" in said and "prog runs without it" in said
        assert f"halo update prog.plan --for {folder}/prog" in said

    def test_it_fails_if_told_to(self, folder: Path) -> None:
        build(folder / "prog", LINES_ABOVE)
        outcome = halo(
            *("exec", "--stale", "fail", "--plan", "prog.plan", "--", "./prog", "5"), cwd=folder
        )
        assert (outcome.status, outcome.stdout) == (116, "")
        assert "halo update prog.plan --for" in only_line(outcome)

    def test_a_plan_that_fits_is_silent(self, folder: Path) -> None:
        outcome = halo("exec", "--plan", "prog.plan", "--", "./prog", "5", cwd=folder)
        assert (outcome.status, outcome.stderr) == (0, "")

    def test_a_damaged_plan_still_fails(self, folder: Path) -> None:
        (folder / "prog.plan").write_bytes((folder / "prog.plan").read_bytes()[:-9])
        outcome = halo("exec", "--plan", "prog.plan", "--", "./prog", "5", cwd=folder)
        assert (outcome.status, outcome.stdout) == (116, "")

    def test_the_doctor_names_the_update(self, folder: Path) -> None:
        build(folder / "prog", LINES_ABOVE)
        outcome = halo("doctor", "--plan", "prog.plan", "--", "./prog", cwd=folder)
        assert outcome.status == 116
        assert "halo update prog.plan --for" in outcome.stdout


class TestRefusals:
    """Each is one sentence with a documented status, and writes no plan."""

    def refusal(self, folder: Path, *options: str) -> tuple[int, str]:
        done = halo(
            "update", "prog.plan", "--for", "./prog", "-o", "new.plan", *options, cwd=folder
        )
        assert not list(folder.glob("new.*")) and done.stdout == ""
        return done.status, only_line(done)

    def test_no_profile(self, folder: Path) -> None:
        document = json.loads((folder / "prog.plan.json").read_text())
        document["source"]["file"] = "/nowhere/prog.profile"
        (folder / "prog.plan.json").write_text(json.dumps(document))
        (folder / "prog.profile").rename(folder / "moved.profile")
        status, said = self.refusal(folder)
        assert status == 117 and "/nowhere/prog.profile" in said and "--profile FILE" in said
        done = halo("update", "prog.plan", "--profile", "moved.profile", cwd=folder)
        assert (done.status, done.stderr) == (0, "")

    def test_another_profile(self, folder: Path) -> None:
        assert halo("record", "-o", "b.profile", "--", "./prog", "77", cwd=folder).status == 0
        done = halo("update", "prog.plan", "--profile", "b.profile", "--for", "./prog", cwd=folder)
        assert done.status == 0 and "another recording" in only_line(done)

    def test_a_profile_that_is_none(self, folder: Path) -> None:
        status, said = self.refusal(folder, "--profile", "prog.plan")
        assert status == 115 and "prog.plan" in said

    def test_no_review(self, folder: Path) -> None:
        (folder / "prog.plan.json").unlink()
        status, said = self.refusal(folder)
        assert status == 116 and "prog.plan.json" in said

    def test_no_debug_information(self, folder: Path) -> None:
        build(folder / "prog", LINES_ABOVE, flags=("-g0",))
        status, said = self.refusal(folder)
        assert status == 117 and "no debug information" in said

    def test_a_recorded_build_without_debug_information(self, folder: Path) -> None:
        profile = read_profile(folder / "prog.profile")
        sections = dict(profile.sections)
        del sections["source_calls"]
        write_profile(replace(profile, sections=sections), folder / "prog.profile")
        build(folder / "prog", LINES_ABOVE)
        status, said = self.refusal(folder, "--profile", "prog.profile")
        assert status == 117 and "has changed since it was recorded" in said

    def test_another_program(self, folder: Path) -> None:
        done = halo("update", "prog.plan", "--for", "/bin/true", cwd=folder)
        assert done.status == 117 and "debug information" in only_line(done)

    def test_the_name_of_another_plan(self, folder: Path) -> None:
        build(folder / "prog", LINES_ABOVE)
        assert halo("update", "prog.plan", "--for", "./prog", cwd=folder).status == 0
        [new] = folder.glob("prog-*.plan")
        new.write_bytes((folder / "prog.plan").read_bytes())
        done = halo("update", "prog.plan", "--for", "./prog", cwd=folder)
        assert done.status == 117 and f"{new.name} exists" in only_line(done)

    @pytest.mark.parametrize(
        "words",
        [("-o", "x.plan", "--in-place"), ("--", "./prog"), ("-o", "none/x.plan")],
        ids=lambda words: words[0],
    )
    def test_bad_options(self, folder: Path, words: tuple[str, ...]) -> None:
        done = halo("update", "prog.plan", *words, cwd=folder)
        assert done.status in (111, 117) and only_line(done)
