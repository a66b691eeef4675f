"""The lines at the end of a measurement: one deploys, the other is pasted into a shell."""

from __future__ import annotations

import shlex
from pathlib import Path

from halo.binary.process.allocators import find_allocator
from halo.plan import PlanGroup, drawing_plan, write_plan
from halo.ship.deployment.next_lines import next_lines
from support.planned import RUNTIME
from support.samples.results import document, save


def test_the_lines_of_a_kept_plan(tmp_path: Path) -> None:
    times = {"glibc": [3.0] * 7, "jemalloc": [2.0] * 7, "halo": [1.0] * 7}
    folder = save(document(times=times), tmp_path / "my results")
    write_plan(
        drawing_plan([PlanGroup(huge_pages=False, reuse=0)], 4096, 16, None), folder / "halo.plan"
    )
    lines = next_lines("bin/halo", folder, RUNTIME, ["./prog", "a b"])
    assert lines is not None
    deploy, paste = map(shlex.split, lines)
    assert deploy == ["bin/halo", "deploy", str(folder), "-o", "prog-deploy"]
    assert paste == [
        f"LD_PRELOAD={RUNTIME}:{find_allocator('jemalloc').library}",
        f"HALO_PLAN={folder}/halo.plan",
        *("./prog", "a b"),
    ]


def test_the_folder_of_a_program_with_a_space_in_its_name_can_be_deployed(tmp_path: Path) -> None:
    """`halo deploy` refuses paths that systemd or a shell may read otherwise."""
    times = {"glibc": [3.0] * 7, "jemalloc": [2.0] * 7, "halo": [2.0] * 7}
    found = document(kept="none", times=times)
    found["summary"]["program"] = "my prog"
    lines = next_lines("halo", save(found, tmp_path / "results"), RUNTIME, ["./my prog"])
    assert lines is not None
    assert shlex.split(lines[0])[-1] == "my_prog-deploy"


def test_the_lines_of_an_allocator_alone(tmp_path: Path) -> None:
    times = {"glibc": [3.0] * 7, "jemalloc": [2.0] * 7, "halo": [2.0] * 7}
    folder = save(document(kept="none", times=times), tmp_path / "results")
    lines = next_lines("halo", folder, RUNTIME, ["prog"])
    assert lines is not None
    assert lines[1] == f"LD_PRELOAD={find_allocator('jemalloc').library} prog"


def test_no_lines_if_there_is_nothing_to_deploy(tmp_path: Path) -> None:
    folder = save(document(kept="none"), tmp_path / "results")
    assert next_lines("halo", folder, RUNTIME, ["prog"]) is None
    assert next_lines("halo", tmp_path, RUNTIME, ["prog"]) is None
