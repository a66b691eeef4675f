"""The commands that check the runtime's thresholds: shortest forms, judged by their reports.

Their figures are not judged here: a loaded machine, and the checks of a build, would spoil them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from support.command import REPOSITORY, Outcome

PATTERNS = {"pair", "same", "batch", "reverse"}


def bench(command: str, *arguments: str) -> Outcome:
    done = subprocess.run(
        [sys.executable, "-m", f"bench.{command}", *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def pairs(tmp_path: Path, what: str, *options: str) -> dict[str, Any]:
    """The command's results of one trial of one size; its status agrees with its thresholds."""
    path = tmp_path / "found.json"
    shortest = ["--trials", "1", "--repeats", "1", "--sizes", "32", "--json", str(path)]
    done = bench("micro.pairs", what, *shortest, *options)
    assert done.stderr == ""
    found: dict[str, Any] = json.loads(path.read_text())
    assert done.status == (0 if all(threshold["met"] for threshold in found["thresholds"]) else 1)
    for row in found["rows"]:
        assert row["median"] > 0
        assert f"{row['median']:.2f}" in done.stdout
    return found


def ways(found: dict[str, Any]) -> set[str]:
    return {row["way"] for row in found["rows"]}


def test_pairs_forward_compares_each_allocator_with_itself(tmp_path: Path) -> None:
    found = pairs(tmp_path, "forward")
    allocators = {"glibc", "jemalloc", "mimalloc", "tcmalloc"}
    assert ways(found) == allocators | {f"halo over {name}" for name in allocators}
    assert {row["pattern"] for row in found["rows"]} == PATTERNS
    assert len(found["thresholds"]) == len(allocators)


def test_pairs_grouped_compares_the_same_calls_with_each_allocator(tmp_path: Path) -> None:
    found = pairs(tmp_path, "grouped")
    assert {"halo, frame 1", "halo, frame 4", "mimalloc, frame 1", "glibc, frame 4"} < ways(found)
    names = [threshold["name"] for threshold in found["thresholds"]]
    assert len(names) == 2 and "mimalloc" in names[0] and "glibc" in names[1]


def test_pairs_frames_walks_one_to_eight_frames(tmp_path: Path) -> None:
    found = pairs(tmp_path, "frames")
    assert len(ways(found)) == 16
    assert "32 bytes: ns a frame" in found["figures"]


def test_pairs_selectors_compares_them_with_the_walk(tmp_path: Path) -> None:
    found = pairs(tmp_path, "selectors")
    places = ("frame 1", "frame 4", "outside")
    assert ways(found) == {f"{kind}, {at}" for kind in ("walk", "selectors") for at in places}
    assert set(found["figures"]) == {f"{at}, 32 bytes: ns more" for at in places}


def test_pairs_spread_compares_two_layouts(tmp_path: Path) -> None:
    found = pairs(tmp_path, "spread")
    assert ways(found) == {"spread", "adjacent"}
    assert [threshold["limit"] for threshold in found["thresholds"]] == [0.3]


def test_pairs_threads_compares_two_threads_with_one(tmp_path: Path) -> None:
    found = pairs(tmp_path, "threads", "--thread-pairs", "20000")
    assert {"halo, 1 thread(s)", "halo, 2 thread(s)"} < ways(found)
    assert {row["pattern"] for row in found["rows"]} == PATTERNS | {"exchange"}


def test_waste_holds_every_group_against_the_kernels_count(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    options = ("--train", "--plan-strategy", "dense", "--json", str(path))
    done = bench("studies.waste", "hospital", *options)
    assert done.stderr == ""
    [found] = json.loads(path.read_text())
    assert found["allocations"] > 100_000
    [group] = found["groups"]
    assert 1e6 < group["live"] <= group["resident"]
    assert 1e6 < found["sampled"] <= group["resident"] * 1.02 + (256 << 10)
    assert done.status == (0 if found["met"] else 1)


def test_waste_watches_a_server_for_as_many_requests_as_asked(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    options = ("--requests", "300000", "--plan-strategy", "dense", "--json", str(path))
    done = bench("studies.waste", "--server-hour", *options)
    assert done.stderr == ""
    [found] = json.loads(path.read_text())
    assert found["allocations"] > 300_000
    assert found["last_quarter"] > found["range_last_quarter"] > 1e6
    assert done.status == (0 if found["met"] else 1)


TINY_CASES = """
[[case]]
name = "tiny"
summary = "a program with a list"
packages = ["gcc"]
processes = 2

[[case]]
name = "telltale"
summary = "a program that shows what is preloaded"
packages = ["gcc"]
processes = 0
"""
TINY = """
source '{repository}/bench/soak/cases/case.sh'
prepare() {{
  gcc -O1 -g -x c - -o "$SOAK_INPUTS/list" <<'SOURCE'
#include <stdio.h>
#include <stdlib.h>
struct Node {{ struct Node* next; long value; }};
static struct Node* add(struct Node* list, long value) {{
  struct Node* node = malloc(sizeof *node);
  *node = (struct Node){{list, value}};
  return node;
}}
int main(void) {{
  struct Node* list = NULL;
  for (long i = 0; i < 1000; ++i) list = add(list, i);
  long sum = 0;
  for (; list != NULL; list = list->next) sum += list->value;
  printf("%ld\\n", sum);
}}
SOURCE
}}
train() {{ record "$SOAK_INPUTS/list"; }}
run() {{ "$SOAK_INPUTS/list"; "$SOAK_INPUTS/list" >file; {extra} }}
"$1"
"""


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    (tmp_path / "cases.toml").write_text(TINY_CASES)
    for name, extra in (("tiny", ":;"), ("telltale", 'echo "${LD_PRELOAD:-}" >>file;')):
        (tmp_path / f"{name}.sh").write_text(TINY.format(repository=REPOSITORY, extra=extra))
    return tmp_path / "cases.toml"


def test_soak_compares_every_run_and_counts_what_was_grouped(cases: Path) -> None:
    path = cases.with_name("found.json")
    done = bench("soak.soak", "tiny", "--times", "5", "--file", str(cases), "--json", str(path))
    assert (done.status, done.stderr) == (0, "")
    [found] = json.loads(path.read_text())
    plans = ["per-site", "dense", "random", "everything", "everything-by-size"]
    assert [run["plan"] for run in found["runs"]] == plans
    for run in found["runs"]:
        # A shell's own processes may meet a site of the C library that is in the plan.
        assert run["allocations"] >= 2000 and run["processes"] >= 2
        assert run["problem"] == ""


def test_soak_draws_pools_where_nothing_can_be_recorded(cases: Path) -> None:
    """The training is not asked for: it would end the case."""
    cases.write_text(TINY_CASES.replace("processes = 2", "processes = 2\nrecorded = false"))
    script = cases.with_name("tiny.sh")
    script.write_text(script.read_text().replace("train() {", "train() { exit 1;"))
    path = cases.with_name("found.json")
    done = bench("soak.soak", "tiny", "--times", "3", "--file", str(cases), "--json", str(path))
    assert (done.status, done.stderr) == (0, "")
    [found] = json.loads(path.read_text())
    assert [run["plan"] for run in found["runs"]] == ["one-pool", "60-pools", "8-pools-by-size"]
    assert all(run["allocations"] >= 2000 and not run["problem"] for run in found["runs"])


def test_soak_tells_a_different_result(cases: Path) -> None:
    one = ("--times", "1", "--strategy", "dense", "--file", str(cases))
    done = bench("soak.soak", "telltale", *one)
    assert done.status == 1
    assert "1 FAILED, another file" in done.stdout


def test_soak_tells_when_too_few_processes_had_grouped_objects(cases: Path) -> None:
    cases.write_text(TINY_CASES.replace("processes = 2", "processes = 9"))
    done = bench("soak.soak", "tiny", "--times", "1", "--strategy", "dense", "--file", str(cases))
    assert done.status == 1
    assert "processes instead of 9" in done.stdout


def test_soak_counts_no_process_with_a_few_grouped_objects(cases: Path) -> None:
    script = cases.with_name("tiny.sh")
    script.write_text(script.read_text().replace("i < 1000", "i < 90"))
    done = bench("soak.soak", "tiny", "--times", "1", "--strategy", "dense", "--file", str(cases))
    assert done.status == 1
    assert "in 0 processes instead of 2" in done.stdout


def test_every_case_of_the_soak_has_a_script_with_its_steps() -> None:
    listed = bench("soak.soak", "--list").stdout.splitlines()
    scripts = REPOSITORY / "bench" / "soak" / "cases"
    names = {line.partition(":")[0] for line in listed}
    assert names == {path.stem for path in scripts.glob("*.sh")} - {"case"}
    assert len(names) > 8
    entries = tomllib.loads((scripts / "cases.toml").read_text())["case"]
    recorded = {entry["name"]: entry.get("recorded", True) for entry in entries}
    for name in names:
        text = (scripts / f"{name}.sh").read_text()
        assert "prepare()" in text and "run()" in text
        assert ("train()" in text) is recorded[name]
        subprocess.run(["bash", "-n", scripts / f"{name}.sh"], check=True)


def test_recording_compares_recorded_runs_with_native_ones() -> None:
    done = bench("studies.recording", "rbtree", "--trials", "1")
    assert done.stderr == ""
    [row] = [line for line in done.stdout.splitlines() if line.startswith("| rbtree")]
    native, recorded, times, peak = (cell.split()[0] for cell in row.strip("| ").split("|")[1:])
    assert float(times) == pytest.approx(float(recorded) / float(native), rel=0.2)
    assert float(peak) > 1
    assert f"geometric mean {times}" in done.stdout
    over = float(times) > 3
    assert done.status == int(over) or times == "3.00", "a rounded mean may be on either side"
