"""What is compiled for whom: commands and workloads for users, the rest for tests; warnings."""

from __future__ import annotations

import json
import re
import subprocess

from support.command import BUILD, REPOSITORY


def sources_of(target: str) -> set[str]:
    listed = subprocess.run(
        ["ninja", "-C", str(BUILD), "-t", "inputs", target],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return set(re.findall(r"\S+/((?:src|bench|tests|fuzz)/\S+\.(?:c|cc|S))$", listed, re.MULTILINE))


def recipe(target: str) -> str:
    return subprocess.run(
        ["make", "-n", target], capture_output=True, text=True, check=True, cwd=REPOSITORY
    ).stdout


def test_users_compile_no_tests() -> None:
    for users in ("build", "install", "deb"):
        assert "scripts/build.sh\n" in recipe(users)
    compiled = sources_of("all")
    assert {"src/runtime/entry/forwarding.cc", "bench/programs/hospital/main.c"} < compiled
    assert not [name for name in compiled if name.startswith(("tests/", "fuzz/"))]


def test_the_demo_compiles_what_the_main_job_needs() -> None:
    assert "scripts/build.sh main-job\n" in recipe("demo")
    compiled = sources_of("main-job")
    assert {"src/runtime/entry/forwarding.cc", "bench/programs/hospital/main.c"} < compiled
    assert compiled < sources_of("all")
    studies = ("src/studies/", "src/tracing/", "src/tidy/")
    assert not [name for name in compiled if name.startswith(studies)]


def test_tests_are_compiled_in_the_same_folder() -> None:
    assert "scripts/build.sh everything\n" in recipe("test")
    everything = sources_of("everything")
    assert everything > sources_of("all")
    assert (
        "tests/native/studies/pollution/traps/faults_test.cc" in everything
        and "fuzz/driver.cc" in everything
    )


def test_warnings_are_errors_only_on_request() -> None:
    assert 'option(HALO_WERROR "Make warnings errors" OFF)' in (
        REPOSITORY / "CMakeLists.txt"
    ).read_text("utf-8")
    wanted = "HALO_WERROR:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text("utf-8")
    commands = json.loads((BUILD / "compile_commands.json").read_text("utf-8"))
    assert {"-Werror" in entry["command"].split() for entry in commands} == {wanted}
    presets = json.loads((REPOSITORY / "CMakePresets.json").read_text("utf-8"))
    assert presets["configurePresets"][0]["cacheVariables"]["HALO_WERROR"] == "ON"
