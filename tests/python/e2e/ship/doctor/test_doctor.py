"""The doctor: every check is named, and what is missing comes with the command that fixes it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from halo.base.schema.doctor import DoctorDocument
from halo.ship.doctor.check import CheckState
from halo.ship.doctor.checks import _counters
from support.command import compile_c, halo


def test_it_names_missing_parts_and_how_to_fix_them(tmp_path: Path) -> None:
    outcome = halo("doctor", env={"HALO_BUILD": str(tmp_path)})
    assert outcome.status == 114
    lines = outcome.stdout.splitlines()
    for state, what, fix in (
        ("missing", "engine native", "make build"),
        ("note", "engine valgrind", "make build"),
        ("missing", "libhalo.so", "make build"),
    ):
        head = f"{state:<8} {what} "
        place = next(n for n, line in enumerate(lines) if line.startswith(head))
        assert lines[place + 1].strip() == f"fix it with: {fix}"
    for what in ("architecture", "jemalloc", "huge pages", "perf counters", "addr2line"):
        assert any(what in line for line in lines)


def test_it_examines_a_program(tmp_path: Path) -> None:
    compile_c("int main(void) { return 0; }", tmp_path / "prog")
    outcome = halo("doctor", "--", str(tmp_path / "prog"))
    assert outcome.status == 0, outcome.stdout
    for what in ("linked", "position-independent", "own malloc", "build-id", "frame rules"):
        assert f"OK       {what} " in outcome.stdout
    assert "halo can place its objects" in outcome.stdout


def test_it_says_why_a_program_is_unsuitable(tmp_path: Path) -> None:
    compile_c("int main(void) { return 0; }", tmp_path / "prog", "-static")
    outcome = halo("doctor", "--", str(tmp_path / "prog"))
    assert outcome.status == 113
    lines = outcome.stdout.splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("no       suitable "))
    assert "static" in lines[place]
    assert lines[place + 1].strip().startswith("way out: link it dynamically")
    assert "Traceback" not in outcome.stderr


def test_options_about_a_program_need_one() -> None:
    for option in (["--run"], ["--plan", "x.plan"]):
        outcome = halo("doctor", *option)
        assert (outcome.status, outcome.stdout) == (111, "")
        assert "give it after `--`" in outcome.stderr


def test_on_a_built_checkout_all_is_well() -> None:
    outcome = halo("doctor")
    assert outcome.status == 0, outcome.stdout
    assert "All is well." in outcome.stdout


def states(output: str) -> dict[str, str]:
    """The state of each part of the machine, from the JSON."""
    return {part["what"]: part["state"] for part in json.loads(output)["machine"]}


def test_the_json_has_every_line_of_the_report(tmp_path: Path) -> None:
    compile_c("int main(void) { return 0; }", tmp_path / "prog", "-static")
    outcome = halo("doctor", "--json", "-", "--", str(tmp_path / "prog"))
    document = msgspec.json.decode(outcome.stdout, type=DoctorDocument)
    assert document.status == outcome.status == 113
    assert document.program == str(tmp_path / "prog")
    assert [part.what for part in document.findings if part.state == "no"] == ["suitable"]
    report = [line for line in outcome.stderr.splitlines() if line[:1] not in ("", " ", "/")]
    shown = [line[:31].rstrip() for line in report]
    parts = [*document.machine, *document.findings]
    assert shown == [f"{part.state:<8} {part.what}" for part in parts]
    bare = halo("doctor", "--json", str(tmp_path / "all.json"))
    kept = msgspec.json.decode((tmp_path / "all.json").read_bytes(), type=DoctorDocument)
    assert (kept.program, kept.findings, kept.status) == (None, (), bare.status)


def test_parts_that_some_commands_need_are_optional(tmp_path: Path) -> None:
    """Without clang, Java and PySpark the machine is still well."""
    for name in ("addr2line", "valgrind", "true", "dpkg-query"):
        if (path := shutil.which(name)) is not None:
            (tmp_path / name).symlink_to(path)
    outcome = halo("doctor", "--json", "-", env={"PATH": str(tmp_path)})
    found = states(outcome.stdout)
    assert {found[what] for what in ("halo-cc", "halo-c++", "java")} == {"optional"}
    assert outcome.status == 0, outcome.stderr
    assert "install it with: apt-get install clang-19" in outcome.stderr
    assert {found[f"python: {name}"] for name in ("duckdb", "pyarrow", "matplotlib")} == {"OK"}
    assert found["python: pyspark"] in ("OK", "optional")


@pytest.mark.parametrize(("variable", "name"), [("HALO_CLANG", "cc"), ("HALO_CLANGXX", "c++")])
def test_a_compiler_that_the_user_names_must_be_there(variable: str, name: str) -> None:
    outcome = halo("doctor", "--json", "-", env={variable: "nosuch"})
    assert states(outcome.stdout)[f"halo-{name}"] == "missing"
    assert outcome.status == 114
    assert f"{variable} names nosuch, which is not installed" in outcome.stderr
    assert f"fix it with: unset {variable}" in outcome.stderr


@pytest.mark.parametrize(("exists", "state"), [(True, CheckState.OK), (False, CheckState.INFO)])
def test_a_machine_without_counters_is_neither_good_nor_bad(
    exists: bool, state: CheckState, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = "/sys/bus/event_source/devices/cpu"
    real = Path.exists
    monkeypatch.setattr(Path, "exists", lambda at: exists if str(at) == unit else real(at))
    assert _counters().state is state
