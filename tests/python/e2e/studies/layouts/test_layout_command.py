"""`halo study layout`: object traces of real programs, replayed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx
import pytest

from halo.base.settings import read_settings
from halo.binary.process.target import find_target
from halo.record.parts import Limits, workspace
from halo.record.producer import RecordingJob
from halo.record.profile import SIMULATION, merge_parts
from halo.record.registry import find_producer
from halo.record.run import record
from halo.record.sink_options import OBJECTS
from halo.studies.layouts.replays import ReplayOptions, replay
from halo.studies.tracing.engine import profile_of
from support.command import BUILD, Outcome, compile_c, halo
from support.traces import instrumented, trace_of

RBTREE = (str(BUILD / "bench" / "rbtree"), "3000", "9000", "1000", "1")
PROGRAMS = {
    "rbtree": RBTREE[1:],
    "mesh": ("60", "50", "4000", "1"),
    "server": ("1500", "100", "50", "2", "1"),
    "hospital": ("3", "60", "1"),
}

# Objects that are used in another order than that of their allocation and first access.
SCATTERED = """
#include <stdlib.h>
enum { COUNT = 30000, ROUNDS = 6, STEP = 7919 };
static long *items[COUNT];
int main(void) {
  for (int at = 0; at < COUNT; ++at) *(items[at] = malloc(16)) = at;
  for (int round = 0; round < ROUNDS; ++round)
    for (long at = 0, next = 0; at < COUNT; ++at, next = (next + STEP) % COUNT) ++*items[next];
}
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_replaying_the_recorded_addresses_equals_the_simulation(name: str, tmp_path: Path) -> None:
    settings = read_settings()
    target = find_target(str(BUILD / "bench" / name), settings.environment)
    arguments = list(PROGRAMS[name])
    limits = Limits(sinks={"machine": "this", OBJECTS.name: 1})
    with workspace() as folder:
        job = RecordingJob(target, arguments, limits)
        recording = record(
            find_producer(settings, everything=True), settings, job, folder, lambda: None
        )
        assert recording.ending.exit_status == 0
        simulation = SIMULATION.of(merge_parts(recording.parts, target.path, arguments))
        trace = folder / OBJECTS.file
        replayed = replay(settings, trace, ReplayOptions(), folder)
        assert trace.stat().st_size <= 2.5 * replayed.accesses
    assert simulation is not None
    total = simulation.outside
    for tally in simulation.contexts:
        total = total.plus(tally)
    recorded = replayed.replays[0]
    assert recorded.order == "as-recorded"
    assert recorded.accesses == total.accesses > 100_000
    assert recorded.cycles == total.cycles > 0
    assert tuple(recorded.misses.values()) == total.misses
    assert replayed.complete


def test_replaying_a_type_aware_trace_equals_its_simulation(tmp_path: Path) -> None:
    settings = read_settings()
    trace = trace_of(instrumented("server", tmp_path), tmp_path / "trace", *PROGRAMS["server"])
    limits = Limits(sinks={"machine": "this", OBJECTS.name: 1})
    recording = profile_of(settings, trace, limits, tmp_path)
    simulation = SIMULATION.of(
        merge_parts([recording.part], recording.program, list(recording.arguments))
    )
    replayed = replay(settings, tmp_path / OBJECTS.file, ReplayOptions(), tmp_path)
    assert simulation is not None
    total = simulation.outside
    for tally in simulation.contexts:
        total = total.plus(tally)
    recorded = replayed.replays[0]
    assert recorded.accesses == total.accesses > 100_000
    assert recorded.cycles == total.cycles > 0
    assert tuple(recorded.misses.values()) == total.misses


@dataclass(frozen=True)
class Kept:
    """The outcome of the command, its document, and the trace that it kept."""

    outcome: Outcome
    found: dict[str, Any]
    trace: Path


@pytest.fixture(scope="module")
def scattered(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    folder = tmp_path_factory.mktemp("scattered")
    program = compile_c(SCATTERED, folder / "scattered")
    trace, path = folder / "kept.objects", folder / "found.json"
    outcome = halo("study", "layout", "--json", str(path), "-o", str(trace), "--", str(program))
    return Kept(outcome, json.loads(path.read_text()), trace)


def test_objects_that_are_used_in_another_order_are_put_in_it(scattered: Kept) -> None:
    assert scattered.outcome.status == 0, scattered.outcome.stderr
    assert "would save" in scattered.outcome.stdout
    found = scattered.found
    assert found["gain"] > 0.15
    assert found["replayed"]["objects"] >= 30_000
    assert found["program"].endswith("/scattered")
    cost = {
        one["order"]: one["cycles"]
        for one in found["replayed"]["replays"]
        if one["packing"] == "dense"
    }
    assert cost["hml"] < cost["allocation-order"]
    assert cost["hml"] < cost["random"]


def test_a_stored_trace_gives_the_same(scattered: Kept, tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    again = halo("study", "layout", "--json", str(path), str(scattered.trace))
    assert again.status == 0, again.stderr
    assert json.loads(path.read_text())["replayed"] == scattered.found["replayed"]


@pytest.mark.parametrize("ending", ["graphml", "dot", "metis"])
def test_the_graph_is_written_for_other_programs(
    scattered: Kept, tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"graph.{ending}"
    outcome = halo("study", "layout", "--graph", str(path), str(scattered.trace))
    assert outcome.status == 0, outcome.stderr
    edges = scattered.found["replayed"]["graph"]["edges"]
    if ending == "graphml":
        graph = networkx.read_graphml(path)
        assert graph.number_of_edges() == edges
        assert {data["size"] for _, data in graph.nodes(data=True)} >= {16}
        assert min(weight for *_, weight in graph.edges(data="weight")) >= 1
    elif ending == "dot":
        assert path.read_text().count(" -- ") == edges
    else:
        assert path.read_text().split("\n")[0].split()[1] == str(edges)


def test_a_program_whose_objects_are_in_order_already(tmp_path: Path) -> None:
    source = SCATTERED.replace("STEP = 7919", "STEP = 1").replace("ROUNDS = 6", "ROUNDS = 2")
    program = compile_c(source, tmp_path / "in_order")
    outcome = halo("study", "layout", "--", str(program))
    assert outcome.status == 1, outcome.stderr
    assert "None of these orders would save more than" in outcome.stdout


def test_a_trace_that_is_cut_short_is_read_as_far_as_it_goes(
    scattered: Kept, tmp_path: Path
) -> None:
    trace = tmp_path / "short.objects"
    trace.write_bytes(scattered.trace.read_bytes()[:-10])
    outcome = halo("study", "layout", str(trace))
    assert outcome.status in {0, 1}, outcome.stderr
    assert "cut short" in outcome.stdout


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        (b"", "not an object trace"),
        (b"halo-obj\x7f\0\0\0\0\0\0\0", "version 127"),
        (b"halo-obj\4\0\0\0\0\0\0\0", "version 4"),
        (b"halo-obj\5\0\0\0\0\0\0\0" + b"\xff" * 40, "damaged"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: bytes | None, words: str) -> None:
    trace = tmp_path / "a.objects"
    if content is not None:
        trace.write_bytes(content)
    outcome = halo("study", "layout", str(trace))
    assert outcome.status == 121
    assert words in outcome.stderr and outcome.stderr.count("\n") == 1


def test_bad_usage_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("mine")
    for arguments, status, words in (
        (("a.objects", "--", *RBTREE), 111, "not both"),
        (("-o", "b", "a.objects"), 111, "need a program"),
        (("--phase", "main", "a.objects"), 111, "need a program"),
        (("--after-phase", "--", *RBTREE), 111, "needs --phase FUNCTION"),
        (("--window", "0", "a.objects"), 111, "0"),
        (("--graph", "a.png", "a.objects"), 111, ".graphml"),
        (("--window", "2000", "a.objects"), 111, "1024"),
        (("-o", "there", "--", *RBTREE), 117, "exists"),
        ((), 111, "--"),
    ):
        outcome = halo("study", "layout", *arguments, cwd=tmp_path)
        assert outcome.status == status, outcome.stderr
        assert words in outcome.stderr
    assert (tmp_path / "there").read_text() == "mine"


PHASES = """
#include <stdlib.h>
enum { COUNT = 20000, STEP = 7919 };
static long *items[COUNT];
__attribute__((noipa)) void build(void) {
  for (int at = 0; at < COUNT; ++at) *(items[at] = malloc(16)) = at;
}
__attribute__((noipa)) void add_one(long *item) { ++*item; }
__attribute__((noipa)) void traverse(long step) {
  for (long at = 0, next = 0; at < COUNT; ++at, next = (next + step) % COUNT) add_one(items[next]);
}
__attribute__((noipa)) void nothing(void) {}
int main(int argc, char **argv) {
  build();
  traverse(STEP);
  if (argc > 7) nothing();
}
"""


def test_a_phase_counts_its_accesses_and_those_of_its_callees(tmp_path: Path) -> None:
    program = compile_c(PHASES, tmp_path / "a, b: phases")
    counts = {}
    for name, options in {
        "whole": (),
        "traverse": ("--phase", "traverse"),
        "behind": ("--phase", "build", "--after-phase"),
    }.items():
        path = tmp_path / f"{name}.json"
        outcome = halo("study", "layout", *options, "--json", str(path), "--", str(program))
        assert outcome.status in {0, 1}, outcome.stderr
        found = json.loads(path.read_text())
        assert found["phase"] == (options[1] if options else "")
        assert found["replayed"]["phase"] == bool(options)
        counts[name] = found["replayed"]["replays"][0]["accesses"]
    # A pointer, and the item loaded, stored, with a call and a return.
    assert 4 * 20_000 < counts["traverse"] < 8 * 20_000
    assert counts["traverse"] <= counts["behind"] < counts["traverse"] + 20_000
    assert counts["behind"] < counts["whole"] / 2


def test_a_phase_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    program = compile_c(PHASES, tmp_path / "phases")
    for name, words in (("missing", "no function missing"), ("nothing", "code of nothing")):
        outcome = halo("study", "layout", "--phase", name, "--", str(program))
        assert outcome.status == 117, outcome.stderr
        assert words in outcome.stderr and outcome.stderr.count("\n") == 1


def test_requested_alignment_is_kept(tmp_path: Path) -> None:
    program = compile_c(
        """
        #include <stdlib.h>
        enum { COUNT = 300, ROUNDS = 100 };
        static long *items[COUNT];
        int main(void) {
          for (int at = 0; at < COUNT; ++at) items[at] = aligned_alloc(4096, 64);
          for (int round = 0; round < ROUNDS; ++round)
            for (int at = 0; at < COUNT; ++at) *items[at] += at;
        }
        """,
        tmp_path / "pages",
    )
    path = tmp_path / "found.json"
    chosen = ("--machine", "miucin", "--quick", "--json", str(path))
    outcome = halo("study", "layout", *chosen, "--", str(program))
    assert outcome.status in {0, 1}, outcome.stderr
    # All begin pages, so they compete for one set of the first cache, in any order.
    for one in json.loads(path.read_text())["replayed"]["replays"]:
        assert one["misses"]["L1D"] > 0.9 * 300 * 100, one["order"]


def test_a_program_without_objects_is_one_sentence(tmp_path: Path) -> None:
    program = compile_c("int main(void) { return 3; }", tmp_path / "nothing")
    outcome = halo("study", "layout", "--json", "found.json", "--", str(program), cwd=tmp_path)
    assert outcome.status == 117
    assert "nothing ended with status 3" in outcome.stderr
    assert "no accesses to tracked objects" in outcome.stderr
    assert not (tmp_path / "found.json").exists()


def test_a_program_that_only_executes_another_one_is_refused() -> None:
    outcome = halo("study", "layout", "--", "env", *RBTREE)
    assert outcome.status == 113
    assert outcome.stderr.count("\n") == 1


def test_a_forked_child_does_not_disturb_the_trace(tmp_path: Path) -> None:
    program = compile_c(
        """
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static void use(int count) {
          for (int at = 0; at < count; ++at) {
            volatile long *p = malloc(32);
            *p = at;
            free((void *)p);
          }
        }
        int main(void) {
          use(1000);
          if (fork() == 0) {
            use(50000);
            _exit(0);
          }
          wait(NULL);
          use(1000);
        }
        """,
        tmp_path / "forks",
    )
    path = tmp_path / "found.json"
    outcome = halo("study", "layout", "--json", str(path), "--", str(program))
    assert outcome.status in {0, 1}, outcome.stderr
    replayed = json.loads(path.read_text())["replayed"]
    assert "1 further process was not traced" in outcome.stderr
    assert replayed["complete"]
    assert 2000 <= replayed["objects"] < 3000


def test_a_refused_trace_replaces_no_file(tmp_path: Path) -> None:
    """Files of an earlier run stay, if a trace does not answer the question."""
    trace, order = tmp_path / "plain.objects", tmp_path / "order"
    assert halo("study", "layout", "--quick", "-o", str(trace), "--", *RBTREE).status in {0, 1}
    order.write_text("mine")
    outcome = halo("study", "layout", "--quick", "--after-phase", "--order", str(order), str(trace))
    assert outcome.status == 117
    assert "has no phase" in outcome.stderr and "-o OTHER.objects" in outcome.stderr
    assert order.read_text() == "mine"
