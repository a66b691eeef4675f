"""A deployment has the variables of the allocator's setting in each of its files."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from halo.binary.process.allocator_settings import Needs, Setting
from halo.binary.process.allocators import Allocator, find_allocator
from halo.plan import PlanGroup, drawing_plan, write_plan
from halo.report.results.reader import read_measurement
from halo.ship.deployment.choice import DeploymentChoice, choice_of_allocator, choice_of_results
from halo.ship.deployment.contents import Deployment, dockerfile_text, readme_text
from halo.ship.deployment.folder import Request, deploy
from halo.ship.deployment.next_lines import next_lines
from support.command import REPOSITORY
from support.planned import RUNTIME
from support.samples.results import document, save

THREAD = "background_thread:true"


def deployed(choice: DeploymentChoice, folder: Path) -> Deployment:
    request = Request(folder, Path("/opt/prog"), None, "halo", docker=True)
    return deploy(choice, request, RUNTIME, REPOSITORY, {})[0]


def variables(folder: Path) -> dict[str, str]:
    """Those of the file that services read."""
    lines = (folder / "env").read_text().splitlines()
    pairs = [line.partition("=") for line in lines if not line.startswith("#")]
    return {name: value for name, _, value in pairs}


def printed_by_run(folder: Path, environment: dict[str, str] | None = None) -> dict[str, str]:
    """The variables of a program that the wrapper starts."""
    told = subprocess.run(
        [folder / "run", "env"],
        env={"PATH": os.environ["PATH"], **(environment or {})},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stderr == ""
    pairs = [line.partition("=") for line in told.stdout.splitlines()]
    return {name: value for name, _, value in pairs}


def test_an_allocator_with_a_setting(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    found = deployed(choice_of_allocator(find_allocator("jemalloc:background")), folder)
    (name,) = [library.name for library in found.libraries]
    expected = {"LD_PRELOAD": f"/opt/prog/{name}", "MALLOC_CONF": THREAD}
    assert variables(folder) == expected
    users = printed_by_run(folder)
    assert (users["LD_PRELOAD"], users["MALLOC_CONF"]) == (f"{folder}/{name}", THREAD)
    docker = (folder / "Dockerfile").read_text()
    for variable, value in expected.items():
        assert f"\nENV {variable}={value}\n" in docker
    assert "jemalloc:background" in (folder / "README").read_text()


@pytest.mark.parametrize("preloaded", ["", "libm.so.6"])
def test_glibc_alone_with_a_setting_preloads_nothing(tmp_path: Path, preloaded: str) -> None:
    """And leaves what the user preloads as it is."""
    folder = tmp_path / "d"
    found = deployed(choice_of_allocator(find_allocator("glibc:huge-pages")), folder)
    assert found.libraries == []
    assert sorted(path.name for path in folder.iterdir()) == ["Dockerfile", "README", "env", "run"]
    assert variables(folder) == {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    users = printed_by_run(folder, {"LD_PRELOAD": preloaded} if preloaded else {})
    assert users["GLIBC_TUNABLES"] == "glibc.malloc.hugetlb=1"
    assert users.get("LD_PRELOAD", "") == preloaded
    assert "HALO_PLAN" not in users
    for name in ("env", "run", "Dockerfile"):
        assert "LD_PRELOAD=" not in (folder / name).read_text()
    readme = (folder / "README").read_text()
    assert "grep -a GLIBC_TUNABLES /proc/PID/environ" in readme
    assert "Licences: ." not in readme


def test_a_plan_over_an_allocator_with_a_setting(tmp_path: Path) -> None:
    plan = tmp_path / "halo.plan"
    write_plan(drawing_plan([PlanGroup(huge_pages=False, reuse=0)], 4096, 16, None), plan)
    for name, library in (("mimalloc:huge-pages", True), ("glibc:huge-pages", False)):
        allocator = find_allocator(name)
        folder = tmp_path / name.replace(":", "-")
        found = deployed(DeploymentChoice("prog", "/bin/prog", plan, allocator), folder)
        assert found.libraries[0].name == "libhalo.so"
        assert len(found.libraries) == 1 + library
        expected = {
            "LD_PRELOAD": ":".join(f"/opt/prog/{it.name}" for it in found.libraries),
            "HALO_PLAN": "/opt/prog/prog.plan",
            **allocator.variables,
        }
        assert variables(folder) == expected
        readme = (folder / "README").read_text()
        assert f"over {name}" in readme and "HALO_STATS=1 /opt/prog/run prog" in readme
        text = (folder / "run").read_text()
        assert all(f"export {variable}=" in text for variable in expected)


def test_a_value_is_quoted_for_the_shell(tmp_path: Path) -> None:
    odd = Setting("odd", "glibc", "ODD=a b;$c", "", Needs.THREADS)
    folder = tmp_path / "d"
    deployed(choice_of_allocator(Allocator("glibc", None).under(odd)), folder)
    assert printed_by_run(folder)["ODD"] == "a b;$c"


def test_what_needs_no_library_says_so() -> None:
    found = Deployment("prog", Path("/opt/p"), "", "", [], "prog", "", {"A": "1", "B": "2"})
    assert "x86-64 Linux with glibc." in readme_text(found)
    assert dockerfile_text(found, "p").splitlines()[-2:] == ["ENV A=1", "ENV B=2"]


@pytest.mark.parametrize("kept", ["none", "halo"])
@pytest.mark.parametrize("use", ["glibc:huge-pages", "jemalloc:huge-pages"])
def test_the_setting_that_the_answer_uses_is_deployed(tmp_path: Path, use: str, kept: str) -> None:
    times = {"glibc": [3.0] * 7, "jemalloc": [2.0] * 7, use: [1.0] * 7, "halo": [2.0] * 7}
    folder = save(document(kept=kept, times=times), tmp_path / "results")
    choice = choice_of_results(read_measurement(folder))
    assert choice.plan is None and choice.allocator == find_allocator(use)
    assert choice.why.startswith(f"under {use}, prog is 3.00 times as fast as under glibc")
    lines = next_lines("halo", folder, RUNTIME, ["prog", "a b"])
    assert lines is not None
    *words, program, argument = shlex.split(lines[1])
    library = choice.allocator.library
    expected = {} if library is None else {"LD_PRELOAD": str(library)}
    assert dict(word.split("=", 1) for word in words) == {**expected, **choice.allocator.variables}
    assert (program, argument) == ("prog", "a b")


def test_a_plan_over_a_setting_is_pasted_with_its_variable(tmp_path: Path) -> None:
    times = {"glibc": [3.0] * 7, "jemalloc": [2.0] * 7, "halo": [1.0] * 7}
    raw = document(times=times)
    raw["summary"]["allocator"] = "jemalloc:background"
    folder = save(raw, tmp_path / "results")
    plan = drawing_plan([PlanGroup(huge_pages=False, reuse=0)], 4096, 16, None)
    write_plan(plan, folder / "halo.plan")
    lines = next_lines("halo", folder, RUNTIME, ["prog"])
    assert lines is not None
    assert shlex.split(lines[1]) == [
        f"LD_PRELOAD={RUNTIME}:{find_allocator('jemalloc').library}",
        f"MALLOC_CONF={THREAD}",
        f"HALO_PLAN={folder}/halo.plan",
        "prog",
    ]


def test_a_setting_of_the_programs_own_allocator_is_deployed(tmp_path: Path) -> None:
    """Without preloading that, as the program has it by itself."""
    times = {"glibc": [3.0] * 7, "jemalloc": [2.0] * 7, "halo": [2.0] * 7}
    raw = document(kept="none", times=times)
    reference = raw["trials"]["reference"]
    reference["libjemalloc.so.2"] = reference.pop("glibc")
    reference["libjemalloc.so.2:huge-pages"] = reference.pop("jemalloc")
    raw["summary"]["native"] = "libjemalloc.so.2"
    folder = save(raw, tmp_path / "results")
    choice = choice_of_results(read_measurement(folder))
    assert choice.plan is None and choice.allocator.library is None
    assert choice.allocator.variables == find_allocator("jemalloc:huge-pages").variables
    lines = next_lines("halo", folder, RUNTIME, ["prog"])
    assert lines is not None and "LD_PRELOAD" not in lines[1]
