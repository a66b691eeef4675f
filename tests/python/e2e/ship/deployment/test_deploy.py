"""Deployed folders work after a copy, without halo; what cannot be deployed is refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.command import compile_c, halo
from support.programs.sources import LIST
from support.refusals import BAD_INPUT, BAD_PLAN, UNSUITABLE, USAGE, check
from support.samples.results import document, measured_folder, save, with_kept

OUTPUT = "897000\n"  # of the program with 300 nodes
BARE = {"PATH": os.defpath}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program, and a plan for it."""
    folder = tmp_path_factory.mktemp("deploy")
    compile_c(LIST, folder / "list")
    assert halo("record", "--", "./list", "300", cwd=folder).status == 7
    made = halo("plan", "list.profile", "--strategy", "dense", "-o", "dense.plan", cwd=folder)
    assert made.status == 0, made.stderr
    return folder


def run(words: Sequence[str | Path], stats: Path, env: Mapping[str, str]) -> dict[str, Any]:
    """The statistics of a run, which has to do what the program does."""
    done = subprocess.run(
        words,
        env={**env, "HALO_STATS": str(stats)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, OUTPUT, "")
    found: dict[str, Any] = json.loads(stats.read_text())
    return found


def deploy(folder: Path, *arguments: str) -> str:
    outcome = halo("deploy", *arguments, cwd=folder)
    assert (outcome.status, outcome.stderr) == (0, "")
    return outcome.stdout


def pasted(said: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The last line as typed into a shell."""
    (step,) = [line for line in said.splitlines() if line.startswith("Next: ")]
    assert step == said.splitlines()[-1]
    command = ["sh", "-c", step.removeprefix("Next: ")]
    done = subprocess.run(command, cwd=cwd, env=BARE, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (7, ""), step
    return done


def variables(env_file: Path) -> dict[str, str]:
    """As systemd and Docker read them: lines of NAME=VALUE, and comments."""
    lines = [line for line in env_file.read_text().splitlines() if not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


@pytest.mark.parametrize("allocator", ["glibc", "jemalloc", "mimalloc", "tcmalloc"])
def test_the_wrapper_works_wherever_the_folder_is(
    folder: Path, tmp_path: Path, allocator: str
) -> None:
    output = tmp_path / "first"
    deploy(folder, "--plan", "dense.plan", "--allocator", allocator, "-o", str(output))
    moved = output.rename(tmp_path / "moved")
    (tmp_path / "link").symlink_to(moved / "run")
    stats = run([tmp_path / "link", folder / "list", "300"], tmp_path / "stats", BARE)
    assert stats["active"] is True
    assert stats["groups"][0]["allocations"] >= 600


def test_the_variables_work_at_the_final_path(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "final"
    stage = str(tmp_path / "stage")
    choice = ("--plan", "dense.plan", "--allocator", "jemalloc")
    said = deploy(folder, *choice, "-o", stage, "--path", str(place))
    assert pasted(said, folder).stdout == OUTPUT
    found = variables(place / "env")
    assert found == {
        "LD_PRELOAD": f"{place}/libhalo.so:{place}/libjemalloc.so.2",
        "HALO_PLAN": f"{place}/list.plan",
    }
    program = folder / "list"
    assert run([program, "300"], tmp_path / "1", {**BARE, **found})["active"] is True
    sourced = f"set -a; . {place}/env; exec {program} 300"
    assert run(["sh", "-c", sourced], tmp_path / "2", BARE)["active"] is True


def test_the_next_command_works_as_it_is_printed(folder: Path, tmp_path: Path) -> None:
    """Without --path, and for a program that no PATH leads to."""
    choice = ("--plan", "dense.plan", "--allocator", "jemalloc")
    said = deploy(folder, *choice, "-o", str(tmp_path / "out"))
    assert pasted(said, tmp_path).stdout == OUTPUT
    said = deploy(folder, *choice, "-o", str(tmp_path / "other"), "--", "./list")
    assert pasted(said, tmp_path).stdout == OUTPUT


def test_the_wrapper_keeps_another_preloaded_library(folder: Path, tmp_path: Path) -> None:
    deploy(folder, "--plan", "dense.plan", "-o", str(tmp_path / "out"))
    source = 'int puts(const char *); __attribute__((constructor)) void c(void) { puts("mine"); }'
    other = compile_c(source, tmp_path / "libother.so", "-shared", "-fPIC")
    done = subprocess.run(
        [tmp_path / "out" / "run", folder / "list", "300"],
        env={**BARE, "LD_PRELOAD": str(other), "HALO_STATS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.endswith(f"mine\n{OUTPUT}")
    assert ", active" in done.stderr


def test_the_wrapper_runs_the_program_in_any_case(folder: Path, tmp_path: Path) -> None:
    deploy(folder, "--plan", "dense.plan", "-o", str(tmp_path / "out"))
    spaced = (tmp_path / "out").rename(tmp_path / "a b")
    words = [str(spaced / "run"), str(folder / "list"), "300"]
    done = subprocess.run(words, env=BARE, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (7, OUTPUT)
    assert len(done.stderr.splitlines()) == 1 and "colon or a space" in done.stderr
    usage = subprocess.run(words[:1], env=BARE, capture_output=True, text=True, check=False)
    assert usage.returncode == 2 and "usage:" in usage.stderr


def test_the_folder_says_all_that_is_needed(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    more = ("--systemd", "list", "--docker", "--path", "/opt/x")
    deploy(folder, "--plan", "dense.plan", "--allocator", "jemalloc", "-o", str(output), *more)
    assert {path.name for path in output.iterdir()} == {
        *("list.plan", "libhalo.so", "libjemalloc.so.2", "env", "run", "README"),
        *("LICENCE.libhalo", "LICENCE.libjemalloc", "list.service.d", "Dockerfile"),
    }
    readme = (output / "README").read_text()
    notes = subprocess.check_output(["readelf", "-n", folder / "list"], text=True)
    build_id = notes.split("Build ID: ")[1].split()[0]
    for fact in (build_id, "glibc 2.", "libstdc++.so.6", "HALO_STATS=1", "/opt/x/run list ARGS"):
        assert fact in readme
    assert max(map(len, readme.splitlines())) <= 80
    drop_in = (output / "list.service.d" / "halo.conf").read_text()
    assert drop_in.endswith("[Service]\nEnvironmentFile=-/opt/x/env\n")
    snippet = (output / "Dockerfile").read_text().splitlines()
    assert snippet[1] == "COPY out/ /opt/x/"
    assert set(snippet[2:]) == {f"ENV {k}={v}" for k, v in variables(output / "env").items()}
    assert "MIT" in (output / "LICENCE.libhalo").read_text()
    modes = {path: path.stat().st_mode & 0o777 for path in output.rglob("*")}
    programs = {output / "run", output / "list.service.d"}
    assert modes == {path: 0o755 if path in programs else 0o644 for path in modes}


def test_results_deploy_their_kept_plan(tmp_path: Path) -> None:
    results = with_kept(tmp_path / "kept", measured_folder(), "halo")
    raw = json.loads((results / "results.json").read_text())
    times = {"glibc": [2.0] * 7, "halo": [1.0] * 7}
    raw["trials"]["reference"] = document(times=times)["trials"]["reference"]
    save(raw, results)
    output = tmp_path / "out"
    deploy(tmp_path, str(results), "-o", str(output))
    assert (output / "list.plan").read_bytes() == (results / "halo.plan").read_bytes()
    program = measured_folder().parent / "list"
    stats = run([output / "run", program, "300"], tmp_path / "stats", BARE)
    assert stats["active"] is True


def test_results_without_a_plan_deploy_the_allocator(tmp_path: Path) -> None:
    times = {name: [time] * 7 for name, time in {"glibc": 2.0, "jemalloc": 1.0}.items()}
    found = {**times, "halo": [1.0] * 7}
    results = save(document("list", "none", found), tmp_path / "results")
    output = tmp_path / "out"
    outcome = halo("deploy", str(results), "-o", str(output), cwd=tmp_path)
    assert outcome.status == 0, outcome.stderr
    assert "list under jemalloc" in outcome.stdout
    assert "./list is not here" in outcome.stderr
    assert {it.name for it in output.iterdir()} == {
        *("libjemalloc.so.2", "LICENCE.libjemalloc", "env", "run", "README")
    }
    assert variables(output / "env") == {"LD_PRELOAD": f"{output}/libjemalloc.so.2"}


def test_results_with_nothing_to_deploy(tmp_path: Path) -> None:
    save(document("list", "none"), tmp_path / "results")
    check(tmp_path, BAD_INPUT, "nothing to deploy", "deploy", "results", "-o", "out")


def test_results_that_were_not_finished(tmp_path: Path) -> None:
    unfinished = document("list", "halo")
    unfinished["trials"]["reference"] = {}
    save(unfinished, tmp_path / "results")
    check(tmp_path, BAD_INPUT, "not finished", "deploy", "results", "-o", "out")


def test_a_plan_of_another_build(folder: Path, tmp_path: Path) -> None:
    for name in ("dense.plan", "dense.plan.json"):
        shutil.copy(folder / name, tmp_path)
    compile_c(LIST + "\nint more(void) { return 1; }", tmp_path / "list")
    words = ("deploy", "--plan", "dense.plan", "-o", "out")
    check(tmp_path, BAD_PLAN, "build", *words, "--", "./list")
    (tmp_path / "dense.plan.json").unlink()
    check(tmp_path, BAD_PLAN, "build", *words, "--", "./list")


def test_a_program_that_has_changed_since(folder: Path, tmp_path: Path) -> None:
    program = compile_c(LIST, tmp_path / "list")
    assert halo("record", "--", str(program), "300", cwd=tmp_path).status == 7
    assert halo("plan", "list.profile", cwd=tmp_path).status == 0
    compile_c(LIST + "\nint more(void) { return 1; }", program)
    words = ("deploy", "--plan", "list.plan", "-o", "out")
    check(tmp_path, BAD_PLAN, "another build", *words)
    program.chmod(0o4755)
    check(tmp_path, UNSUITABLE, "set-user-id", *words)


def test_a_folder_that_is_in_use(folder: Path, tmp_path: Path) -> None:
    plan = ("deploy", "--plan", str(folder / "dense.plan"))
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "file").touch()
    check(tmp_path, BAD_INPUT, "not an empty folder", *plan, "-o", "used")
    check(tmp_path, BAD_INPUT, "not an empty folder", *plan, "-o", "used/file")
    check(tmp_path, BAD_INPUT, "does not exist", *plan, "-o", "none/out")
    (tmp_path / "empty").mkdir()
    deploy(tmp_path, *plan[1:], "-o", "empty")
    assert (tmp_path / "empty" / "list.plan").is_file()


def test_command_lines_that_are_wrong(folder: Path) -> None:
    plan = ("deploy", "--plan", "dense.plan")
    check(folder, USAGE, "either RESULTS", "deploy")
    check(folder, USAGE, "either RESULTS", *plan, "results")
    check(folder, USAGE, "absolute path", *plan, "-o", "out", "--path", "opt/x")
    check(folder, USAGE, "space or a colon", *plan, "-o", "a b")
    check(folder, USAGE, "not a service", *plan, "-o", "out", "--systemd", "x.socket")
    check(folder, USAGE, "without arguments", *plan, "-o", "out", "--", "./list", "300")
    check(folder, BAD_INPUT, "nothing to deploy", "deploy", "--allocator", "glibc", "-o", "out")
