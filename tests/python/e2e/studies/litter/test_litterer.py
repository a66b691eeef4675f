"""libhalo-litterer.so: programs behave as ever on an aged heap; its log says how it was aged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from halo.binary.process.allocators import Allocator
from support.command import Outcome, compile_c
from support.littering import ALLOCATORS, HOSPITAL, LITTERER, detect, run
from support.planned import RUNTIME, make_plan, run_planned

JQ = ["jq", "-c", "map(.x) | add"]
JQ_INPUT = json.dumps([{"x": i, "name": f"entry {i}"} for i in range(500)])
REAL = {"jq": (JQ, JQ_INPUT), "hospital": (HOSPITAL, "")}
SETTINGS = {"HALO_LITTER_SEED": "7", "HALO_LITTER_MULTIPLIER": "3", "HALO_LITTER_OCCUPANCY": "0.5"}
ENDS = r"""
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  write(1, "done\n", 5);
  if (argc > 1 && !strcmp(argv[1], "allocates")) free(malloc(5000));
  if (argc > 1 && !strcmp(argv[1], "_exit")) _exit(4);
  if (argc > 1 && !strcmp(argv[1], "forks")) return fork() == 0 ? 0 : 4;
  return 4;
}
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The detector's file of each program."""
    folder = tmp_path_factory.mktemp("detected")
    for name, (command, stdin) in REAL.items():
        detect(command, folder / name, stdin=stdin)
    return {name: folder / name for name in REAL}


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_c(ENDS, tmp_path_factory.mktemp("built") / "ends", "-fno-builtin")


def litter(
    command: list[str],
    data: Path,
    log: Path,
    env: Mapping[str, str] | None = None,
    more: list[Path | None] | None = None,
    stdin: str = "",
) -> tuple[Outcome, dict[str, Any]]:
    """The outcome littered, and the log; `env` is put over SETTINGS."""
    variables = {"HALO_LITTER_DATA_FILENAME": str(data), "HALO_LITTER_LOG_FILENAME": str(log)}
    outcome = run(
        command, [LITTERER, *(more or [])], {**SETTINGS, **variables, **(env or {})}, stdin=stdin
    )
    return outcome, json.loads(log.read_text()) if log.exists() else {}


@pytest.mark.parametrize("allocator", ALLOCATORS, ids=lambda it: it.name)
@pytest.mark.parametrize("name", REAL)
def test_real_programs_do_the_same_littered(
    data: dict[str, Path], tmp_path: Path, name: str, allocator: Allocator
) -> None:
    command, stdin = REAL[name]
    alone = run(command, [allocator.library], stdin=stdin)
    outcome, log = litter(
        command, data[name], tmp_path / "log", more=[allocator.library], stdin=stdin
    )
    assert outcome == alone
    assert log["outcome"] == "littered"


def test_the_log_tells_what_was_done(data: dict[str, Path], tmp_path: Path) -> None:
    detected = json.loads(data["hospital"].read_text())
    _, log = litter(HOSPITAL, data["hospital"], tmp_path / "log")
    objects = 3 * detected["max_live_allocations"]
    assert (log["objects"], log["grouped"]) == (objects, 0)
    assert abs(log["kept"] - objects / 2) <= 0.5
    assert log["bytes"] == pytest.approx(detected["mean"] * objects, rel=0.01)
    assert log["kept_bytes"] == pytest.approx(log["bytes"] / 2, rel=0.01)
    assert 0 < log["own_bytes"] <= 16 * objects
    told = {name: log[name] for name in ("occupancy", "multiplier", "seed", "shuffle", "groups")}
    assert told == {
        "occupancy": 0.5,
        "multiplier": 3,
        "seed": 7,
        "shuffle": True,
        "groups": False,
    }
    assert log["problem"] == ""
    times = ("seconds", "user_seconds", "system_seconds", "program_start", "program_seconds")
    assert all(log[name] >= 0 for name in times)


def test_variables_may_have_the_names_of_the_paper(data: dict[str, Path], tmp_path: Path) -> None:
    given = {"LITTER_OCCUPANCY": "0.25", "HALO_LITTER_OCCUPANCY": "", "LITTER_MULTIPLIER": "2"}
    _, log = litter(REAL["hospital"][0], data["hospital"], tmp_path / "log", given)
    assert log["occupancy"] == 0.25
    _, log = litter(
        REAL["hospital"][0],
        data["hospital"],
        tmp_path / "new",
        given | {"HALO_LITTER_OCCUPANCY": "0.5"},
    )
    assert log["occupancy"] == 0.5


def test_a_seed_makes_it_again(data: dict[str, Path], tmp_path: Path) -> None:
    def log_of(**env: str) -> dict[str, Any]:
        log = litter(HOSPITAL, data["hospital"], tmp_path / "log", env)[1]
        times = ("seconds", "user_seconds", "system_seconds", "program_start", "program_seconds")
        return {name: value for name, value in log.items() if name not in times}

    assert log_of() == log_of()
    assert log_of(HALO_LITTER_SEED="8") == log_of() | {"seed": 8}
    drawn = {log_of(HALO_LITTER_SEED="")["seed"] for _ in range(3)}
    assert len(drawn) == 3, "each run has another seed where none is given"


@pytest.mark.parametrize(
    ("variable", "value", "name", "told"),
    [
        ("HALO_LITTER_SHUFFLE", "0", "shuffle", False),
        ("HALO_LITTER_NO_SHUFFLE", "1", "shuffle", False),
        ("HALO_LITTER_NO_SHUFFLE", "0", "shuffle", True),
        ("HALO_LITTER_OCCUPANCY", "1", "occupancy", 1),
        ("HALO_LITTER_OCCUPANCY", "0", "kept", 0),
        ("HALO_LITTER_SEED", "18446744073709551615", "seed", 2**64 - 1),
    ],
)
def test_each_setting_is_followed(
    data: dict[str, Path], tmp_path: Path, variable: str, value: str, name: str, told: object
) -> None:
    outcome, log = litter(HOSPITAL, data["hospital"], tmp_path / "log", {variable: value})
    assert outcome.stderr == ""
    assert (log["outcome"], log[name]) == ("littered", told)


def test_the_defaults_are_those_of_the_study(data: dict[str, Path], tmp_path: Path) -> None:
    unset = dict.fromkeys(SETTINGS, "")
    _, log = litter(HOSPITAL, data["hospital"], tmp_path / "log", unset)
    assert (log["occupancy"], log["multiplier"], log["shuffle"]) == (0.95, 20, True)


BAD = [
    ("HALO_LITTER_OCCUPANCY", "1.5", "HALO_LITTER_OCCUPANCY is not a number from 0 to 1"),
    ("HALO_LITTER_OCCUPANCY", "abc", "HALO_LITTER_OCCUPANCY is not a number from 0 to 1"),
    ("HALO_LITTER_OCCUPANCY", "nan", "HALO_LITTER_OCCUPANCY is not a number from 0 to 1"),
    ("HALO_LITTER_OCCUPANCY", "0.5x", "HALO_LITTER_OCCUPANCY is not a number from 0 to 1"),
    ("HALO_LITTER_MULTIPLIER", "-1", "HALO_LITTER_MULTIPLIER is not a number from 0 to 1000000"),
    ("HALO_LITTER_MULTIPLIER", "inf", "HALO_LITTER_MULTIPLIER is not a number from 0 to 1000000"),
    ("HALO_LITTER_SEED", "-1", "HALO_LITTER_SEED is not a whole number below 2^64"),
    (
        "HALO_LITTER_SEED",
        "18446744073709551616",
        "HALO_LITTER_SEED is not a whole number below 2^64",
    ),
    ("HALO_LITTER_SHUFFLE", "2", "HALO_LITTER_SHUFFLE is neither 0 nor 1"),
    ("HALO_LITTER_NO_SHUFFLE", "yes", "HALO_LITTER_NO_SHUFFLE is neither 0 nor 1"),
    ("HALO_LITTER_GROUPS", "-1", "HALO_LITTER_GROUPS is neither 0 nor 1"),
    ("HALO_LITTER_SLEEP", "-1", "HALO_LITTER_SLEEP is not a number of seconds, at most 86400"),
    ("HALO_LITTER_GROUPS", "1", "no plan serves this process, so there are no groups to litter"),
    ("HALO_LITTER_DATA_FILENAME", "/nowhere", "/nowhere does not exist: run the detector first"),
    ("HALO_LITTER_DATA_FILENAME", "/dev", "/dev is not a regular file"),
]


@pytest.mark.parametrize(("variable", "value", "sentence"), BAD)
def test_a_bad_setting_costs_one_sentence(
    data: dict[str, Path], ends: Path, tmp_path: Path, variable: str, value: str, sentence: str
) -> None:
    outcome, log = litter([str(ends)], data["hospital"], tmp_path / "log", {variable: value})
    assert (outcome.status, outcome.stdout) == (4, "done\n")
    assert outcome.stderr == f"halo: the heap is not littered: {sentence}\n"
    assert (log["outcome"], log["problem"], log["objects"]) == ("not littered", sentence, 0)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty: run the detector again"),
        ('{"format": "halo-profile", "version": 1}', "is not a detector's output"),
        ('{"format": "halo-detector", "version": 99}', "is of a newer version: update halo"),
        ("half", "is cut short: run the detector again"),
        ("none", "is of a program that allocated nothing: no object can be littered"),
    ],
)
def test_bad_data_cost_one_sentence(
    data: dict[str, Path], ends: Path, tmp_path: Path, text: str, sentence: str
) -> None:
    bad = tmp_path / "bad"
    if text == "none":
        detect([str(ends)], bad)
    else:
        bad.write_text(data["hospital"].read_text()[:5000] if text == "half" else text)
    outcome, _ = litter([str(ends)], bad, tmp_path / "log")
    expected = f"halo: the heap is not littered: {bad} {sentence}\n"
    assert outcome == Outcome(4, "done\n", expected)


def test_other_programs_are_left_alone(data: dict[str, Path], ends: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    named = {"HALO_LITTER_PROGRAM": str(ends)}
    outcome, told = litter(
        HOSPITAL, data["hospital"], log, named | {"HALO_LITTER_OCCUPANCY": "bad"}
    )
    assert outcome == run(HOSPITAL)
    assert told == {} and not log.exists()
    shell = ["/bin/sh", "-c", f"{ends}; exit 6"]
    outcome, told = litter(shell, data["hospital"], log, named)
    assert outcome == Outcome(6, "done\n", "")
    assert told["outcome"] == "littered"


@pytest.mark.parametrize(("how", "complete"), [("", True), ("_exit", False), ("forks", True)])
def test_the_log_is_complete_where_the_program_returns(
    data: dict[str, Path], ends: Path, tmp_path: Path, how: str, complete: bool
) -> None:
    outcome, log = litter([str(ends), how], data["hospital"], tmp_path / "log")
    assert outcome == Outcome(4, "done\n", "")
    assert log["outcome"] == "littered"
    assert ("program_seconds" in log) == complete


def test_memory_that_ends_on_the_way_costs_one_sentence(
    data: dict[str, Path], ends: Path, tmp_path: Path
) -> None:
    """An allocator that gives 1000 objects: the rest of the program does not allocate."""
    source = r"""
    #include <stddef.h>
    void *__libc_malloc(size_t);
    static int left = 1000;
    void *malloc(size_t size) { return left-- > 0 ? __libc_malloc(size) : NULL; }
    """
    mean = compile_c(source, tmp_path / "mean.so", "-shared", "-fPIC", "-fno-builtin")
    outcome, log = litter([str(ends)], data["hospital"], tmp_path / "log", more=[mean])
    assert (outcome.status, outcome.stdout) == (4, "done\n")
    assert outcome.stderr == f"halo: {log['problem']}\n"
    assert log["problem"].startswith("memory was refused after 1000 of ")
    assert (log["outcome"], log["objects"]) == ("in part", 1000)


def test_groups_of_a_plan_are_littered(tmp_path: Path) -> None:
    """The blocks that littering took are in the runtime's counts, and no others."""
    plan = make_plan(tmp_path, HOSPITAL, "dense")
    found = tmp_path / "detected"
    detect(HOSPITAL, found, [RUNTIME], {"HALO_PLAN": str(plan)})
    normal = run_planned(HOSPITAL, plan)
    assert sum(normal.allocations) > 0
    log = tmp_path / "log"
    env = SETTINGS | {"HALO_LITTER_DATA_FILENAME": str(found), "HALO_LITTER_LOG_FILENAME": str(log)}
    preloads = {"LD_PRELOAD": f"{LITTERER}:{RUNTIME}"}
    for groups in "01":
        littered = run_planned(HOSPITAL, plan, env=env | preloads | {"HALO_LITTER_GROUPS": groups})
        assert (littered.status, littered.stdout, littered.stderr) == (0, normal.stdout, "")
        told = json.loads(log.read_text())
        assert (told["grouped"] > 0) == (groups == "1")
        assert sum(littered.allocations) == sum(normal.allocations) + told["grouped"]
        detected = json.loads(found.read_text())
    shares = [sum(count for _, count in pairs) for pairs in detected["groups"]]
    scale = told["objects"] / detected["allocations"]
    for group, share in enumerate(shares):
        more = littered.allocations[group] - normal.allocations[group]
        assert abs(more - share * scale) <= len(detected["groups"][group])


def test_groups_of_another_plan_are_not_littered(data: dict[str, Path], tmp_path: Path) -> None:
    plan = make_plan(tmp_path, HOSPITAL, "dense")
    outcome, _ = litter(
        HOSPITAL,
        data["hospital"],
        tmp_path / "log",
        {"HALO_PLAN": str(plan), "HALO_LITTER_GROUPS": "1"},
        more=[RUNTIME],
    )
    assert outcome.stdout == run(HOSPITAL).stdout
    assert outcome.stderr.startswith(
        f"halo: the heap is not littered: {data['hospital']} has counts of 0 groups, the plan has "
    )
    assert outcome.stderr.endswith(": detect again under this plan\n")
