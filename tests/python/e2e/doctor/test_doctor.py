"""The doctor: every check is named, and what is missing comes with the command that fixes it."""

from __future__ import annotations

from pathlib import Path

from support.command import compile_c, halo


def test_it_names_missing_parts_and_how_to_fix_them(tmp_path: Path) -> None:
    outcome = halo("doctor", env={"HALO_BUILD": str(tmp_path), "HALO_QEMU": "no-qemu"})
    assert outcome.status == 114
    lines = outcome.stdout.splitlines()
    for state, what, fix in (
        ("missing", "engine valgrind", "make build"),
        ("note", "engine qemu", "apt-get install qemu-user"),
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
