"""Profiles of several inputs and machines become one: which contexts match, and what counts."""

from __future__ import annotations

import itertools
import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import BadInput
from halo.binary.elf import build_id_of
from halo.plan.merging.inputs import Input, Merged, merge_inputs, read_inputs
from halo.plan.merging.weights import TOLERANCE, repeats_of
from halo.plan.strategies.factory import make_grouping
from halo.plan.strategies.registry import STRATEGIES
from halo.record.profile import (
    CACHE_SWEEP,
    CONFLICTS,
    HOT_STREAMS,
    INPUTS,
    LOADED,
    SIMULATION,
    InputRun,
    Module,
    Profile,
    merge_profiles,
    read_profile,
    repeated,
    write_profile,
)
from support.samples.conflicts import conflicts_document, machine
from support.samples.inputs import LIBC, OTHER_LIBC, PROGRAM, Recorded, blue, red

WITHOUT_SECTIONS = [
    strategy.name
    for strategy in STRATEGIES
    if strategy.needs is None and strategy.name != "from-file"
]


def offsets(profile: Profile) -> set[tuple[int, ...]]:
    contexts = range(len(profile.contexts))
    return {tuple(profile.frames[it].offset for it in profile.stack(at)) for at in contexts}


def accesses_by_site(profile: Profile) -> dict[int, int]:
    return {
        profile.frames[next(profile.stack(at))].offset: context.accesses
        for at, context in enumerate(profile.contexts)
    }


def merged(*inputs: Input) -> Merged:
    return merge_inputs(inputs)


def test_a_merged_profile_has_the_contexts_of_all_inputs() -> None:
    found = merged(red().input("a"), blue().input("b"))
    assert accesses_by_site(found.profile) == {16: 400, 24: 400, 64: 400, 72: 400, 48: 400}
    assert (found.repeats, found.left_out, found.apart) == ((1, 1), (), None)
    assert found.profile.program == PROGRAM.path and found.profile.args == ()
    assert INPUTS.of(found.profile) == (InputRun(("a",), 1000), InputRun(("b",), 1000))
    weights = {(a, b): weight for a, b, weight in found.profile.edges}
    assert sorted(weights.values()) == [40, 40, 40, 40, 40, 300, 300]


def test_each_input_has_the_same_total_of_accesses() -> None:
    short, long = Recorded(), Recorded()
    short.called([16], accesses=10, allocations=4)
    a, b = long.called([16], accesses=25), long.called([64], accesses=5, allocations=3)
    long.edge(a, b, 7)
    found = merged(short.input(), long.input("b")).profile
    assert accesses_by_site(found) == {16: 3 * 10 + 25, 64: 5}
    assert [it.allocations for it in found.contexts] == [3 * 4 + 10, 3]
    assert found.contexts[0].sizes == ((24, 22),)
    assert [it.peak_live_bytes for it in found.contexts] == [64, 64]
    assert found.edges == ((0, 1, 7),)
    assert found.recorder.seconds == 3.0


def test_weights_change_the_totals() -> None:
    found = merged(red().input("a", 2), blue().input("b", 1))
    assert found.repeats == (2, 1)
    assert accesses_by_site(found.profile)[16] == 800
    assert accesses_by_site(found.profile)[48] == 600


@pytest.mark.parametrize(
    ("accesses", "weights", "repeats"),
    [
        ([10, 10], [1, 1], [1, 1]),
        ([1000, 1004], [1, 1], [1, 1]),
        ([100, 300], [1, 1], [3, 1]),
        ([200, 300], [1, 1], [3, 2]),
        ([200, 300], [2, 3], [1, 1]),
        ([10, 10, 10], [0.5, 0.25, 1], [2, 1, 4]),
    ],
)
def test_repeats_are_the_smallest_whole_numbers(
    accesses: list[int], weights: list[float], repeats: list[int]
) -> None:
    assert repeats_of(accesses, weights) == repeats


def test_repeats_keep_the_shares() -> None:
    rng = random.Random(5)
    for _ in range(300):
        count = rng.randint(2, 6)
        accesses = [rng.randint(1, 10 ** rng.randint(1, 9)) for _ in range(count)]
        weights = [rng.uniform(0.1, 10) for _ in range(count)]
        found = repeats_of(accesses, weights)
        each = [n * a / w for n, a, w in zip(found, accesses, weights, strict=True)]
        assert max(each) / min(each) < (1 + TOLERANCE) / (1 - TOLERANCE) + 1e-9
        assert min(found) >= 1


def test_the_order_of_the_inputs_does_not_matter() -> None:
    third = Recorded()
    third.called([16, 3], accesses=70)
    inputs = [red().input("a"), blue().input("b", 2), third.input("c", 0.5)]
    found = {merge_inputs(order).profile for order in itertools.permutations(inputs)}
    assert len(found) == 1


def test_a_repeated_profile_is_that_of_the_runs_one_after_the_other() -> None:
    one = red().input(conflicts=conflicts_document(), object_sizes=1).profile
    three = merge_profiles([one] * 3, one.program, ())
    times = merge_profiles([repeated(one, 3)], one.program, ())
    for key in ("contexts", "edges", "nodes", "frames", "totals"):
        assert getattr(times, key) == getattr(three, key)
    found, expected = CONFLICTS.of(times), CONFLICTS.of(three)
    assert found is not None and expected is not None
    assert (found.states, found.pairs, found.outside_slots) == (
        expected.states,
        expected.pairs,
        expected.outside_slots,
    )


STREAMS = {
    **{"references": 90, "dropped": 4, "symbols": 30, "threshold": 5, "covered": 60, "streams": 2},
    "sets": [{"sites": [0, 1], "streams": 2, "heat": 60, "saved": 12}],
}
SIMULATED = {
    "machine": machine(),
    "contexts": [[400, 90, 7, 2], [400, 80, 6, 1], [200, 10, 1, 0]],
    "code": [[0, 0, 170, 13, 3]],
    "objects": [[5, 0, 24, 3]],
    "outside": [50, 9, 3, 1],
    "prefetched": [4],
    "cycles": 189,
    "objects_missed": 9,
    "objects_for_half": 2,
    "classes": {"contexts": [[1, 2, 4, 0], [3, 2, 1, 5], [1, 0, 0, 0]], "outside": [1, 1, 1, 0]},
}
SWEPT = {"line": 64, "heap": 1000, "outside": 50, "caches": [[8192, 2, 40, 5], [16384, 4, 20, 1]]}


def test_sections_are_multiplied_as_they_would_be_added_up(tmp_path: Path) -> None:
    sections: dict[str, Any] = {
        "hot_streams": STREAMS,
        "simulation": SIMULATED,
        "cache_sweep": SWEPT,
    }
    one = red().input(**sections).profile
    three = merge_profiles([one] * 3, one.program, ())
    times = merge_profiles([repeated(one, 3)], one.program, ())
    assert CACHE_SWEEP.of(times) == CACHE_SWEEP.of(three) is not None
    found, expected = HOT_STREAMS.of(times), HOT_STREAMS.of(three)
    assert found is not None and expected is not None
    assert (found.references, found.dropped, found.covered) == (270, 12, 180)
    assert [(it.heat, it.saved) for it in found.sets] == [
        (it.heat, it.saved) for it in expected.sets
    ]
    assert found.streams == 2, "a repeated run has no other streams"
    simulated, added = SIMULATION.of(times), SIMULATION.of(three)
    assert simulated is not None and added is not None
    for name in ("contexts", "code", "outside", "prefetched", "cycles", "classes"):
        assert getattr(simulated, name) == getattr(added, name)
    assert simulated.objects_missed == 27
    write_profile(times, tmp_path / "times.profile")
    assert read_profile(tmp_path / "times.profile") == times


@pytest.mark.parametrize("strategy", WITHOUT_SECTIONS)
def test_no_strategy_depends_on_how_often_a_run_is_repeated(strategy: str) -> None:
    """Only ratios decide, so repeats that no user sees cannot change a plan."""
    rng = random.Random(7)
    recorded = Recorded()
    for site in range(16, 16 + 8 * 30, 8):
        recorded.called([site, 3 + rng.randrange(4)], rng.randint(1, 3000), rng.randint(1, 40))
    for _ in range(90):
        recorded.edge(rng.randrange(30), rng.randrange(30), rng.randint(1, 500))
    profile = recorded.input().profile
    once, often = (make_grouping(it, strategy) for it in (profile, repeated(profile, 60)))
    assert [group.contexts for group in often.groups] == [group.contexts for group in once.groups]


def test_a_merged_profile_is_merged_again() -> None:
    pair = merged(red().input("a"), blue().input("b")).profile
    short = Recorded()
    short.called([16, 3], accesses=500)
    found = merged(Input(Path("ab"), pair), short.input("c")).profile
    assert INPUTS.of(found) == (
        InputRun(("a",), 1000),
        InputRun(("b",), 1000),
        InputRun(("c",), 500, 4),
    )


def test_what_was_merged_is_read_back(tmp_path: Path) -> None:
    sections: dict[str, Any] = {"conflicts": conflicts_document()}
    found = merged(red().input("a", **sections), blue().input("b", 3, **sections)).profile
    write_profile(found, tmp_path / "c.profile")
    assert read_profile(tmp_path / "c.profile") == found


def test_one_build_has_one_name_whatever_its_path() -> None:
    """On another machine, or as another user, program and libraries have other paths."""
    there = (Module("/opt/x/program", PROGRAM.build_id), Module("/lib64/libc.so.6", LIBC.build_id))
    loaded = [it._asdict() for it in there]
    here = [it._asdict() for it in (PROGRAM, LIBC)]
    found = merged(red().input("a", loaded=here), red(there).input("b", loaded=loaded))
    assert found.profile.modules == (
        Module("/lib64/libc.so.6", LIBC.build_id),
        Module("/opt/x/program", PROGRAM.build_id),
    )
    assert found.profile.program == "/opt/x/program"
    assert LOADED.of(found.profile) == found.profile.modules
    assert accesses_by_site(found.profile) == {16: 800, 24: 800, 48: 400}
    assert found.apart is None


def test_a_file_that_is_here_gives_the_name(tmp_path: Path) -> None:
    """Plans need the code, so the path is one at which the build is."""
    build = build_id_of("/bin/true")
    there = Module("/a/true", build)
    here = Module("/bin/true", build)
    found = merged(red((there, LIBC)).input("a"), red((here, LIBC)).input("b")).profile
    assert found.program == "/bin/true"


def test_a_program_behind_a_link_of_another_machine_is_found_by_its_build() -> None:
    there = red((Module("/opt/program-1.2", PROGRAM.build_id), LIBC)).input("b")
    linked = replace(there, profile=replace(there.profile, program="/usr/local/bin/program"))
    found = merged(red().input("a"), linked).profile
    assert accesses_by_site(found)[16] == 800


def test_frames_of_an_unlike_c_library_before_main_do_not_keep_contexts_apart() -> None:
    other = (PROGRAM, OTHER_LIBC)
    found = merged(red().input("a"), red(other).input("b"))
    assert offsets(found.profile) == {(16, 3), (24, 3), (48, 3)}
    assert accesses_by_site(found.profile) == {16: 800, 24: 800, 48: 400}
    assert found.apart is None


def test_the_alignment_proof_is_about_the_libraries_that_are_here() -> None:
    """It reads the code of all loaded modules, and of an unlike one there is no file."""
    here = Module("/bin/true", build_id_of("/bin/true"))
    there = Module("/lib64/true", "cc" * 20)
    found = merged(
        red((PROGRAM, here)).input("a", loaded=[it._asdict() for it in (PROGRAM, here)]),
        red((PROGRAM, there)).input("b", loaded=[it._asdict() for it in (PROGRAM, there)]),
    )
    assert LOADED.of(found.profile) == (here, PROGRAM)


def test_contexts_through_an_unlike_library_stay_apart() -> None:
    one, other = Recorded(), Recorded((PROGRAM, OTHER_LIBC))
    for recorded in (one, other):
        recorded.called([16, (1, 30), 3], accesses=30)
        recorded.called([24, 3], accesses=70)
    found = merged(one.input("a"), other.input("b"))
    assert len(found.profile.contexts) == 3
    assert found.apart is not None
    assert (found.apart.libraries, found.apart.contexts) == (("libc",), 2)
    assert found.apart.accesses == pytest.approx(0.3)


def test_a_stack_that_is_wholly_in_an_unlike_library_stays() -> None:
    one, other = red(), red((PROGRAM, OTHER_LIBC))
    for recorded in (one, other):
        recorded.add([(1, 40), (1, 41)], accesses=5)
    found = merged(one.input("a"), other.input("b"))
    assert (40, 41) in offsets(found.profile)
    assert found.apart is not None and found.apart.contexts == 2


def test_a_library_that_one_input_alone_loads_does_not_differ() -> None:
    plugin = Module("/usr/lib/plugin.so", "dd" * 20)
    one = red((PROGRAM, LIBC, plugin))
    one.called([16, (2, 4)], accesses=10)
    found = merged(one.input("a"), red().input("b"))
    assert (16, 4, 9, 8, 7) in offsets(found.profile)
    assert found.apart is None


@pytest.mark.parametrize(
    ("sections", "reason"),
    [
        (({"conflicts": conflicts_document()}, {}), "b does not have it."),
        (
            (
                {"conflicts": conflicts_document()},
                {"conflicts": {**conflicts_document(), "machine": machine(ways=4), "pairs": []}},
            ),
            "The recordings have conflicts of different machines",
        ),
    ],
)
def test_a_section_that_cannot_be_merged_is_left_out(
    sections: tuple[dict[str, Any], dict[str, Any]], reason: str
) -> None:
    one, other = sections
    if other:
        other["conflicts"]["states_left_out"] = 1
    found = merged(red().input("a", **one), red().input("b", **other))
    assert [it.section for it in found.left_out] == ["conflicts"]
    assert found.left_out[0].reason.startswith(reason)
    assert CONFLICTS.of(found.profile) is None


def test_object_traces_are_of_one_run() -> None:
    trace = {"file": "/x.objects", "contexts": [[0, 0]], "bytes": 1}
    found = merged(red().input("a", object_trace=trace), red().input("b", object_trace=trace))
    assert [it.section for it in found.left_out] == ["object_trace"]


def test_a_recording_of_all_accesses_and_a_sampled_one_are_merged() -> None:
    sampled = red().input("a", sampling={"bursts": 3, "edge_error": 0.2})
    found = merged(sampled, red().input("b"))
    assert found.left_out == ()
    assert "sampling" in found.profile.sections


def other_parameters() -> Input:
    given = red().input("b")
    parameters = replace(given.profile.parameters, affinity_distance=64)
    return replace(given, profile=replace(given.profile, parameters=parameters))


def silent() -> Input:
    found = Recorded()
    found.called([16], accesses=0)
    return found.input("b")


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (
            lambda: red((Module("/opt/program", "ee" * 20), LIBC)).input("b"),
            "a and b are of different builds of program",
        ),
        (
            lambda: red((Module("/bin/tool", "ee" * 20), LIBC)).input("b"),
            "a and b are of different programs, /usr/bin/program and /bin/tool",
        ),
        (
            lambda: red((Module(PROGRAM.path, ""), LIBC)).input("b"),
            "a and b are of different builds of program",
        ),
        (other_parameters, "a and b were recorded with different --distance or --max-object"),
        (silent, "b has no accesses"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(other: Any, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        merged(red().input("a"), other())


def test_programs_without_a_build_id_are_refused() -> None:
    unknown = (Module(PROGRAM.path, ""), LIBC)
    with pytest.raises(BadInput, match="a has no build-id of its program"):
        merged(red(unknown).input("a"), blue(unknown).input("b"))


def test_an_input_that_is_too_short_to_weigh_is_refused() -> None:
    long = Recorded()
    long.called([16], accesses=10**15)
    tiny = Recorded()
    tiny.called([16], accesses=1, allocations=10**6)
    with pytest.raises(BadInput, match="b has only 1 accesses, too few"):
        merged(long.input("a"), tiny.input("b"))


def test_a_copy_is_the_same_recording(tmp_path: Path) -> None:
    one = red().save(tmp_path / "one")
    copy = tmp_path / "copy"
    copy.write_bytes(one.read_bytes())
    for other in (one, copy):
        with pytest.raises(BadInput, match=r"are the same recording; give each once"):
            read_inputs([one, other], [1, 1])
    blue().save(copy)
    assert [it.path for it in read_inputs([one, copy], [1, 1])] == [one, copy]


def test_profiles_may_come_through_pipes(tmp_path: Path) -> None:
    pipes = []
    for name, recorded in (("one", red()), ("two", blue())):
        pipe, filled = os.pipe()
        os.write(filled, recorded.save(tmp_path / name).read_bytes())
        os.close(filled)
        pipes.append(pipe)
    paths = [Path(f"/dev/fd/{pipe}") for pipe in pipes]
    assert [it.path for it in read_inputs(paths, [1, 1])] == paths
    for pipe in pipes:
        os.close(pipe)
