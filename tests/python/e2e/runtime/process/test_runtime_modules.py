"""Modules that come and go, the runtime itself among them.

Rows are those of the checklist of what breaks preloaded allocators.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from support.planned import RUNTIME, make_plan, run_planned
from support.programs.life import library, plan_of_each_context, program, run_life


def twins() -> list[str]:
    """Two libraries with the same code at the same places, and frames of different sizes."""
    return [str(library(f"twin{size}", "twin.c", f"-DFRAME={size}")) for size in (1200, 2000)]


def test_a_library_takes_the_place_of_another_with_other_frames(tmp_path: Path) -> None:
    """Row 33: both are in the plan, decided by their second frame."""
    command = [str(program("twins")), *twins()]
    plan = plan_of_each_context(tmp_path, [*command, "3"])
    run = run_planned([*command, "40"], plan)
    assert (run.status, run.stdout) == (0, "at the same place: 40\n")
    assert [count for count in sorted(run.allocations) if count >= 280] == [
        40 * times for times in (7, 11, 13, 17)
    ]


def test_two_threads_open_and_close_libraries_while_others_allocate(tmp_path: Path) -> None:
    """Row 33: the plan has all contexts, the loader's among them."""
    command = [str(program("reopening")), *twins()]
    plan = plan_of_each_context(tmp_path, [*command, "3"])
    run = run_planned([*command, "300"], plan)
    assert (run.status, run.stdout) == (0, "2 grouped all along\n")
    assert sum(run.allocations) > 1000


def test_the_runtime_is_opened_and_closed_under_itself() -> None:
    """Rows 9 and 11: it is loaded already, and stays."""
    run = run_life(program("own_library"), str(RUNTIME))
    assert (run.status, run.stdout) == (0, f"still there, {11 * 500} grouped\n")
    assert run.allocations[1] == 11 * 500


def test_the_runtime_is_opened_without_being_preloaded() -> None:
    """Rows 9 and 11: too late to interpose anything, it does no harm and is never unmapped."""
    run = run_life(program("own_library"), str(RUNTIME), env={"LD_PRELOAD": ""})
    assert (run.status, run.stdout) == (0, "still there, 0 grouped\n")


def test_other_namespaces_keep_their_own_allocator() -> None:
    """Row 26: the planned library and the runtime itself by dlmopen."""
    run = run_life(program("namespaces"), str(library("sites")), str(RUNTIME))
    assert (run.status, run.stdout) == (0, f"{5 * 200} grouped\n")
    assert run.allocations[1] == 5 * 200


def test_a_coroutine_opens_a_library_and_ends() -> None:
    """Row 32: nothing of its stack is read afterwards."""
    run = run_life(program("coroutine_open"), twins()[0])
    assert (run.status, run.stdout) == (0, "opened, 100 grouped\n")


def test_no_thread_waits_for_the_linker_under_a_lock_of_the_program() -> None:
    """Locks held by the caller of malloc: in the order that is good without the runtime."""
    run = run_life(program("registry"), twins()[0])
    assert (run.status, run.stdout) == (0, "2 grouped\n")


def test_reloads_at_moving_places_cost_no_memory(tmp_path: Path) -> None:
    """Reloads at moving addresses."""
    command = [str(program("reloads")), twins()[0]]
    plan = plan_of_each_context(tmp_path, [*command, "20"])
    rounds = 10_000
    run = run_planned([*command, str(rounds)], plan)
    assert run.status == 0, run.stderr
    moves, grouped, grown = (int(part.split()[0]) for part in run.stdout.split(","))
    assert moves > rounds / 2
    # Twenty objects a round; the first after every dlopen may be late.
    assert grouped >= 19 * rounds
    assert grown < 16 * rounds, "bytes: less than two words for each"


def test_libraries_are_known_however_they_are_opened(tmp_path: Path) -> None:
    """Row 33: after a dlopen that failed, inside of a constructor, and by an idle thread."""
    planned = twins()[0]
    folder = str(Path(planned).parent)
    broken = library("unresolved", "", "-Wl,--no-as-needed", planned, f"-Wl,-rpath,{folder}")
    nesting = library("nesting", "", f'-DPLANNED="{planned}"')
    command = [str(program("openings")), str(broken), str(nesting), planned]
    plan = plan_of_each_context(tmp_path, command)
    run = run_planned(command, plan)
    assert (run.status, run.stdout[:9]) == (0, "3 refused")
    # Fifty each time; the first of those that follow a dlopen may be late.
    assert all(int(count) >= 49 for count in run.stdout.split(":")[1].split())


def test_threads_open_close_end_and_fork_at_once(tmp_path: Path) -> None:
    """Rows 5 and 33: with libraries at moving places. (Recorded without so much company.)"""
    recorded = [str(program("reopening")), *twins(), "3"]
    plan = plan_of_each_context(tmp_path, recorded, "--option", "any_program=true")
    run = run_planned([str(program("storm")), *twins(), "500"], plan)
    assert (run.status, run.stdout) == (0, "grouped, 0 crashed, children\n")


def test_deep_binding_is_refused_under_a_plan() -> None:
    """Row 21: a library bound so would free what it knows nothing of."""
    command = [str(program("deep", "owner")), str(library("deep_library"))]
    run = run_life(*command)
    assert (run.status, run.stdout) == (0, "bound to the program, 100 grouped\n")
    for without in ("HALO_PLAN", "LD_PRELOAD"):
        run = run_life(*command, env={without: ""})
        assert (run.status, run.stdout) == (0, "bound to the library, 0 grouped\n")


def test_php_runs_under_a_plan(tmp_path: Path) -> None:
    """Row 21: it binds its extensions deeply, and each frees what others have allocated."""
    script = tmp_path / "script.php"
    script.write_text(
        "<?php $kept = [];"
        "for ($i = 0; $i < 5000; $i++)"
        " $kept[] = ['key'.$i => str_repeat('x', $i % 50), 'date' => new DateTime('2020-01-01')];"
        "echo count($kept), ' ', strlen(json_encode($kept)), chr(10);"
    )
    command = ["php", str(script)]
    plain = subprocess.run(command, capture_output=True, text=True, check=True)
    run = run_planned(command, make_plan(tmp_path, command, "dense"))
    assert (run.status, run.stdout) == (0, plain.stdout)
    assert sum(run.allocations) > 0
