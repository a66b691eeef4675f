"""`halo study heap detect`, `litter` and `age`, and `--litter`, end to end on small programs."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from support.command import compile_c, halo

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct node { struct node *next; long value; };
int main(int argc, char **argv) {
  const int count = atoi(argv[1]);
  struct node *first = NULL;
  long sum = 0;
  for (int i = 0; i < count; ++i) {
    struct node *made = malloc(sizeof *made);
    made->next = first;
    made->value = i;
    first = made;
  }
  for (struct node *at = first; at != NULL; at = at->next) sum += at->value;
  char text[40];
  const int length = snprintf(text, sizeof text, "%ld\n", sum);
  if (write(1, text, length) != length) return 1;
  while (first != NULL) {
    struct node *next = first->next;
    free(first);
    first = next;
  }
  if (argc > 2) abort();
  return 7;
}
"""
SUM = "44999850000\n"  # of the numbers below 300000
PROG = ("./prog", "300000")
ENDS = ("--allow-status", "7")
"""What a measurement of it needs."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("aging")
    compile_c(PROGRAM, folder / "prog")
    compile_c(PROGRAM.replace("i < count", "i < count / 2"), folder / "other")
    compile_c("int main(void) { return 3; }", folder / "idle")
    outcome = halo("detect", "--", *PROG, cwd=folder)
    assert (outcome.status, outcome.stdout) == (7, SUM)
    told = outcome.stderr.splitlines()
    assert told[0] == "halo: the sizes are in detector.out"
    assert told[1].endswith(f"halo study heap litter --data detector.out -- {shlex.join(PROG)}")
    assert len(told) == 2
    assert halo("record", "--", *PROG, cwd=folder).status == 7
    planned = halo("plan", "prog.profile", "--strategy", "per-site", cwd=folder)
    assert planned.status == 0, planned.stderr
    return folder


def test_detect_writes_the_sizes(folder: Path) -> None:
    found = json.loads((folder / "detector.out").read_text())
    assert found["bins"][16] == found["allocations"] == found["max_live_allocations"] == 300000
    assert (found["minimum"], found["maximum"], found["mean"]) == (16, 16, 16.0)
    assert found["program"] == str(folder / "prog")
    assert not list(folder.glob(".detector*"))


def test_litter_ages_the_heap_and_passes_the_program_through(folder: Path) -> None:
    options = ("--multiplier", "2", "--occupancy", "0.25", "--seed", "5", "--log", "log.json")
    outcome = halo("litter", *options, "--", *PROG, cwd=folder)
    assert (outcome.status, outcome.stdout, outcome.stderr) == (7, SUM, "")
    log = json.loads((folder / "log.json").read_text())
    assert (log["outcome"], log["objects"], log["kept"]) == ("littered", 600000, 150000)
    assert (log["seed"], log["kept_bytes"]) == (5, 150000 * 16)


def test_the_printed_variables_do_the_same(folder: Path) -> None:
    options = ("--multiplier", "1", "--occupancy", "0.5", "--no-shuffle", "--print-env")
    printed = halo("litter", *options, "--", *PROG, cwd=folder)
    assert printed.status == 0, printed.stderr
    log = folder / "by-hand.json"
    variables = [*printed.stdout.split(), f"HALO_LITTER_LOG_FILENAME={log}"]
    done = subprocess.run(
        ["env", *variables, *PROG], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, SUM, "")
    found = json.loads(log.read_text())
    assert (found["objects"], found["kept"], found["shuffle"]) == (300000, 150000, False)


def test_groups_are_littered_with_what_they_would_serve(folder: Path) -> None:
    plan = ("--plan", "prog.plan")
    assert halo("detect", *plan, "-o", "by-group.out", "--", *PROG, cwd=folder).status == 7
    groups = json.loads((folder / "by-group.out").read_text())["groups"]
    assert [[16, 300000]] in groups
    options = ("--groups", "--data", "by-group.out", "--multiplier", "1", "--log", "groups.json")
    outcome = halo("litter", *plan, *options, "--", *PROG, cwd=folder)
    assert (outcome.status, outcome.stdout, outcome.stderr) == (7, SUM, "")
    assert json.loads((folder / "groups.json").read_text())["grouped"] == 300000
    # The file of a run without the plan does not say what belongs where.
    outcome = halo("litter", *plan, "--groups", "--multiplier", "1", "--", *PROG, cwd=folder)
    assert (outcome.status, outcome.stdout) == (120, SUM)
    assert "detect again under this plan" in outcome.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "what"),
    [
        (("--occupancy", "1.5"), 111, "'1.5' is not a number from 0 to 1"),
        (("--occupancy", "x"), 111, "'x' is not a number"),
        (("--multiplier", "-1"), 111, "'-1' is not a number"),
        (("--seed", "0x10"), 111, "'0x10' is not a seed"),
        (("--groups",), 111, "--plan"),
        (("--data", "nothing.out"), 117, "does not exist"),
        (("--data", "prog.plan.json"), 117, "is not a detector's output"),
        (("--allocator", "none"), 111, "allocator 'none' is unknown"),
        (("--log", "no/folder/log"), 117, "no/folder"),
    ],
)
def test_what_can_be_refused_is_refused_before_the_program_runs(
    folder: Path, arguments: tuple[str, ...], status: int, what: str
) -> None:
    outcome = halo("litter", *arguments, "--", *PROG, cwd=folder)
    assert (outcome.status, outcome.stdout) == (status, "")
    assert what in outcome.stderr and outcome.stderr.count("\n") == 1


def test_what_does_not_fit_in_memory_leaves_the_program_running(folder: Path) -> None:
    outcome = halo("litter", "--multiplier", "1000000", "--", *PROG, cwd=folder)
    assert (outcome.status, outcome.stdout) == (120, SUM)
    assert "MiB are free" in outcome.stderr and outcome.stderr.count("\n") == 1


def test_signals_pass_through(folder: Path) -> None:
    for command in (("detect", "-o", "dead.out"), ("litter",)):
        outcome = halo(*command, "--", *PROG, "die", cwd=folder)
        assert outcome.status == -signal.SIGABRT
        assert outcome.stdout == SUM
    assert not (folder / "dead.out").exists()


def test_a_heap_that_is_not_aged_is_said_whatever_ends_the_program(folder: Path) -> None:
    outcome = halo("litter", "--multiplier", "1000000", "--", *PROG, "die", cwd=folder)
    assert outcome.status == -signal.SIGABRT
    assert "the heap is not littered" in outcome.stderr and outcome.stderr.count("\n") == 1


def test_sizes_of_another_program_are_said_to_be(folder: Path) -> None:
    outcome = halo("litter", "--multiplier", "1", "--", "./other", "300000", cwd=folder)
    assert outcome.status == 7
    assert f"the sizes of {folder / 'prog'}, not of" in outcome.stderr


def test_settings_of_the_users_own_do_not_mix_with_ours(folder: Path) -> None:
    own = {"HALO_LITTER_NO_SHUFFLE": "1", "HALO_LITTER_SEED": "5", "HALO_DETECTOR_X": "1"}
    own["LITTER_SLEEP"] = "x"
    options = ("--multiplier", "1", "--log", "own.json")
    outcome = halo("litter", *options, "--", *PROG, cwd=folder, env=own)
    assert (outcome.status, outcome.stderr) == (7, "")
    log = json.loads((folder / "own.json").read_text())
    assert log["shuffle"] is True and log["seed"] != 5


def test_children_of_the_same_executable_have_logs_of_their_own(folder: Path) -> None:
    again = """
  if (getenv("AGAIN") == NULL) {
    setenv("AGAIN", "1", 1);
    if (fork() == 0) execl(argv[0], argv[0], argv[1], (char *)NULL);
    wait(NULL);
    usleep(300000);
  }
"""
    start = "  const int count"
    code = "#include <sys/wait.h>\n" + PROGRAM.replace(start, again + start, 1)
    compile_c(code, folder / "twice")
    assert halo("detect", "-o", "twice.out", "--", "./twice", "1", cwd=folder).status == 7
    options = ("--data", "twice.out", "--multiplier", "1", "--log", "twice.json")
    assert halo("litter", *options, "--", "./twice", "1", cwd=folder).status == 7
    assert json.loads((folder / "twice.json").read_text())["program_seconds"] > 0.3


def test_sizes_are_never_those_of_an_earlier_measurement(folder: Path) -> None:
    """The folder has a detection already, and this program leaves none."""
    results = ("--results", "stale", "--trials", "1", "--litter", "multiplier=1")
    assert halo("baseline", *results, *ENDS, "--", *PROG, cwd=folder).status == 0
    assert (folder / "stale" / "detector-1.out").exists()
    (folder / "stale" / "results.json").unlink()
    compile_c(
        "#include <stdlib.h>\n"
        'int main(void) { free(malloc(1)); if (getenv("HALO_DETECTOR_PROGRAM")) abort(); }',
        folder / "shy",
    )
    outcome = halo("baseline", *results, "--", "./shy", cwd=folder)
    assert outcome.status == 118
    assert "did not run to its end under the detector" in outcome.stderr


def test_a_program_that_allocates_nothing_is_said_to(folder: Path) -> None:
    outcome = halo("detect", "-o", "idle.out", "--", "./idle", cwd=folder)
    assert outcome.status == 118
    assert "before it allocated anything" in outcome.stderr
    outcome = halo("litter", "--data", "idle.out", "--", "./idle", cwd=folder)
    assert outcome.status == 120
    assert "no object can be littered" in outcome.stderr
    outcome = halo("age", "--trials", "1", "--allow-status", "3", "--", "./idle", cwd=folder)
    assert outcome.status == 118
    assert "nothing to litter" in outcome.stderr


def test_detect_refuses_what_it_cannot_write_or_use(folder: Path) -> None:
    assert halo("detect", "-o", "no/folder/x", "--", *PROG, cwd=folder).status == 117
    assert halo("detect", "--plan", "nothing.plan", "--", *PROG, cwd=folder).status == 116
    assert halo("detect", "--", "./nothing", cwd=folder).status == 112
    assert halo("detect", cwd=folder).status == 111


def test_trials_of_baseline_are_littered(folder: Path) -> None:
    litter = ("--litter", "occupancy=0.5,multiplier=1,seed=3")
    outcome = halo(
        *("baseline", "--trials", "2", "--results", "aged", *litter, *ENDS, "--", *PROG),
        cwd=folder,
    )
    assert outcome.status == 0, outcome.stderr
    assert "every heap was aged: occupancy 0.5, multiplier 1, seed 3" in outcome.stdout
    results = json.loads((folder / "aged" / "results.json").read_text())
    assert results["summary"]["litter"]["occupancy"] == 0.5
    for trials in results["trials"]["reference"].values():
        assert len(trials) == 2
        for trial in trials:
            log = trial["litter"]
            assert (log["objects"], log["kept"], log["seed"]) == (300000, 150000, 3)
            assert trial["wall"] == log["program_seconds"] > 0
    assert (folder / "aged" / "detector-1.out").exists()


def test_bad_litter_is_refused_before_the_first_trial(folder: Path) -> None:
    for text, status in (("occupancy=2", 111), ("data=prog.plan", 117)):
        outcome = halo("baseline", "--litter", text, "--results", "bad", "--", *PROG, cwd=folder)
        assert outcome.status == status
        assert not (folder / "bad").exists()


def test_age_measures_every_configuration_at_every_occupancy(folder: Path) -> None:
    outcome = halo(
        *("age", "--occupancy", "0.9,0.5", "--trials", "2", "--results", "age"),
        *("--plan", "prog.plan", "--groups", "--no-split", "--json", "age.json"),
        *(*ENDS, "--", *PROG),
        cwd=folder,
    )
    assert outcome.status == 0, outcome.stderr
    document = json.loads((folder / "age" / "results.json").read_text())
    aged = document["aged"]
    plain = ["glibc", "jemalloc", "mimalloc", "tcmalloc", "prog over glibc"]
    grouped = "prog over glibc (groups aged)"
    assert list(aged["configurations"]) == [*plain, grouped]
    clean, first, second = aged["levels"]
    assert [level["occupancy"] for level in aged["levels"]] == [None, 0.9, 0.5]
    assert list(clean["trials"]) == plain
    assert list(document["trials"]["reference"]) == plain
    for level, kept in ((first, 270000), (second, 150000)):
        assert list(level["trials"]) == [*plain, grouped]
        for label, trials in level["trials"].items():
            assert [trial["litter"]["kept"] for trial in trials] == [kept, kept]
            expected = 300000 if label == grouped else 0
            assert {trial["litter"]["grouped"] for trial in trials} == {expected}
    assert all(t["litter"]["objects"] == 0 for trials in clean["trials"].values() for t in trials)
    summary = json.loads((folder / "age.json").read_text())
    assert summary["levels"][0]["configurations"][summary["baseline"]]["ratio"] == 1.0


def test_what_is_simulated_begins_with_the_program(folder: Path) -> None:
    """Littering executes about as much as this program; none of it is counted."""
    options = ("--occupancy", "0.5", "--trials", "1", "--no-split", "--simulate", *ENDS)
    outcome = halo("age", *options, "--results", "simulated", "--", "./prog", "30000", cwd=folder)
    assert outcome.status == 0, outcome.stderr
    clean, aged = json.loads((folder / "simulated" / "results.json").read_text())["aged"]["levels"]
    for label, run in clean["simulated"].items():
        assert run["instructions"] > 30000 * 20
        assert aged["simulated"][label]["instructions"] < 1.5 * run["instructions"], label
    metric = ("--metric", "L1D-misses@relative")
    drawn = halo("plot", "occupancy", *metric, "-o", "misses.svg", "simulated", cwd=folder)
    assert drawn.status == 0, drawn.stderr
    assert "L1D-misses@relative, one run each" in (folder / "misses.svg").read_text()


def test_a_build_with_its_own_allocator_must_do_the_same_work(folder: Path) -> None:
    options = (*ENDS, "--occupancy", "0.5", "--trials", "1", "--no-split", "--results")
    same = folder / "same"
    same.symlink_to("prog")
    outcome = halo("age", *options, "custom", "--custom", str(same), "--", *PROG, cwd=folder)
    assert outcome.status == 0, outcome.stderr
    aged = json.loads((folder / "custom" / "results.json").read_text())["aged"]
    assert aged["configurations"]["custom"]["kind"] == "custom"
    assert aged["levels"][1]["trials"]["custom"][0]["litter"]["kept"] == 150000
    outcome = halo("age", *options, "differs", "--custom", "./other", "--", *PROG, cwd=folder)
    assert outcome.status == 119
    assert "under custom" in outcome.stderr


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("--occupancy", "0.5,0.5"), 111),
        (("--occupancy", ""), 111),
        (("--occupancy", "0.5,7"), 111),
        (("--groups",), 111),
        (("--plan", "nothing.plan"), 116),
        (("--custom", "./nothing"), 112),
        (("--plan", "prog.plan", "--under", "none"), 111),
    ],
)
def test_age_refuses_bad_input(folder: Path, arguments: tuple[str, ...], status: int) -> None:
    outcome = halo("age", *arguments, "--results", "refused", "--", *PROG, cwd=folder)
    assert outcome.status == status
    assert outcome.stderr.count("\n") == 1
    assert not (folder / "refused").exists()


def test_sampling_tells_the_allocators_part(folder: Path) -> None:
    """With a perf of our own, which says that one of four samples fell into jemalloc."""
    tools = folder / "tools"
    tools.mkdir()
    perf = tools / "perf"
    perf.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = script ]; then\n'
        '  for o in libjemalloc.so.2 prog libc.so.6 prog; do echo "9e9.5: 1 (/x/$o)"; done\n'
        '  for o in libjemalloc.so.2 prog prog prog; do echo "9999999999.5: 1 (/x/$o)"; done\n'
        "  exit 0\n"
        "fi\n"
        'while [ "$1" != -- ]; do shift; done\n'
        'shift; exec "$@"\n'
    )
    perf.chmod(0o755)
    outcome = halo(
        *("age", "--occupancy", "0.5", "--trials", "1", "--results", "split", *ENDS),
        *("--", *PROG),
        cwd=folder,
        env={"PATH": f"{tools}:{os.environ['PATH']}"},
    )
    assert outcome.status == 0, outcome.stderr
    levels = json.loads((folder / "split" / "results.json").read_text())["aged"]["levels"]
    for level in levels:
        assert level["split"]["jemalloc"] == {"inside": 0.25, "outside": 0.75, "samples": 4}
        assert level["split"]["mimalloc"]["inside"] == 0


def test_a_program_that_dies_leaves_no_temporary_folder(folder: Path) -> None:
    own = {"TMPDIR": str(folder / "tmp")}
    (folder / "tmp").mkdir()
    died = halo(
        "litter", "--multiplier", "0", "--", "sh", "-c", "kill -TERM $$", cwd=folder, env=own
    )
    assert died.status == -signal.SIGTERM
    assert os.listdir(folder / "tmp") == []
