"""Plans recognise every recorded context, say what they cannot do, and align with care."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from halo.base.errors import BadInput
from halo.binary.alignment import Proof, unproved
from halo.binary.elf import FrameRule, RuleKind
from halo.plan import (
    VERDICT_FORWARD,
    VERDICT_UNDECIDED,
    Group,
    Grouping,
    Plan,
    Walker,
    build_plan,
    explain,
    outline,
    plan_summary,
)
from halo.plan.callsites import ModuleChangedError
from halo.record.profile import Module, Profile
from support.samples.plan import (
    CHECKED,
    MODULES,
    Sample,
    Site,
    any_alignment,
    any_distance,
    random_raw_stacks,
    reduce_stack,
)


def grouping(*groups: Sequence[int]) -> Grouping:
    return Grouping("test", tuple(Group(tuple(group), "because") for group in groups))


def keys(stack: Sequence[int | Site]) -> list[tuple[str, int]]:
    sites = [(0, it) if isinstance(it, int) else it for it in stack]
    return [(MODULES[module].build_id, offset) for module, offset in sites]


def verdict(plan: Plan, stack: Sequence[int | Site]) -> int:
    return Walker(plan).identify(keys(stack)).verdict


def identified(plan: Plan) -> tuple[int, ...]:
    assert plan.review is not None
    return tuple(plan.review.identification.undecidable)


@pytest.mark.parametrize("seed", range(60))
def test_every_recorded_context_gets_its_label(seed: int) -> None:
    """The basic property: raw stacks, recursion included, reach their own group."""
    rng = random.Random(seed)
    raw_stacks = random_raw_stacks(rng, rng.randint(1, 80), sites=rng.choice((3, 12)))
    sample = Sample()
    for raw in raw_stacks:
        sample.add(reduce_stack(raw), accesses=rng.randint(0, 9), allocations=rng.randint(1, 9))
    count = rng.randint(1, 4)
    groups: list[list[int]] = [[] for _ in range(count)]
    for at in range(len(raw_stacks)):
        if rng.random() < 0.6:
            groups[rng.randrange(count)].append(at)
    profile = sample.profile()
    plan = build_plan(profile, grouping(*groups), {}, any_distance)
    labels = grouping(*groups).labels(len(raw_stacks), VERDICT_FORWARD)
    walker = Walker(plan)
    undecidable = set(identified(plan))
    for at, raw in enumerate(raw_stacks):
        found = walker.identify(keys(raw)).verdict
        assert found == walker.identify(keys(reduce_stack(raw))).verdict
        assert (found == labels[at]) == (at not in undecidable)
    # All stacks end alike, so only recursion around the outermost sites could end one early.
    assert len(undecidable) <= len(raw_stacks) // 4


def test_a_state_is_decided_as_soon_as_all_below_it_agree() -> None:
    sample = Sample()
    sample.add([16, 32, 48])
    sample.add([16, 33, 48])
    sample.add([17, 32, 48])
    plan = build_plan(sample.profile(), grouping([0, 1]), {}, any_distance)
    assert [(state.parent, state.offset, state.verdict) for state in plan.states] == [
        (0, 0, VERDICT_UNDECIDED),
        (0, 16, 0),
    ]
    assert verdict(plan, [16, 99]) == 0
    assert verdict(plan, [17, 32, 48]) == VERDICT_FORWARD


def test_the_outline_says_what_is_placed_and_not_how() -> None:
    plan = build_plan(two_behind(), grouping([0], [1]))
    every, few = dict(plan_summary(plan)), dict(outline(plan))
    assert few.items() < every.items()
    assert {"strategy", "program", "coverage", "groups", "huge pages"} <= set(few)
    internal = {"states", "frame-pointer steps", "deepest walk", "mean walk", "alignment"}
    assert internal <= set(every) and not internal & set(few)


def test_what_leads_to_no_group_is_left_out() -> None:
    sample = Sample()
    for at in range(50):
        sample.add([16, 100 + at])
    plan = build_plan(sample.profile(), grouping([7]), {}, any_distance)
    assert len(plan.states) == 3
    assert [verdict(plan, [16, 100 + at]) for at in (7, 8)] == [0, VERDICT_FORWARD]


def test_no_groups_forward_at_the_root() -> None:
    plan = build_plan(Sample().profile(), grouping(), {}, any_distance)
    assert [state.verdict for state in plan.states] == [VERDICT_FORWARD]
    assert Walker(plan).identify(keys([16])) == (VERDICT_FORWARD, 0, 0)
    assert ("effect", "none: everything is forwarded") in plan_summary(plan)


def test_a_frame_of_more_than_a_mebibyte_ends_the_walk() -> None:
    def rules(module: Module, offset: int) -> FrameRule:
        return FrameRule(RuleKind.CONSTANT, 1 << 21 if offset == 16 else 32)

    plan = build_plan(two_behind(), grouping([0]), {}, rules)
    assert len(plan.states) == 2
    assert plan.states[1].rule == 0


def test_callers_that_were_not_recorded_are_forwarded() -> None:
    sample = Sample()
    sample.add([16, 32])
    sample.add([17, 32])
    sample.add([18, 32], sizes=[(5000, 1)])  # too large to be grouped: does not count
    profile = sample.profile()
    plan = build_plan(profile, grouping([0, 1]), {}, any_distance)
    assert plan.states[0].verdict == VERDICT_UNDECIDED
    assert verdict(plan, [99]) == VERDICT_FORWARD


def test_recursion_leaves_the_state_alone() -> None:
    sample = Sample()
    sample.add([16, 32, 48])
    sample.add([16, 32, 49])
    plan = build_plan(sample.profile(), grouping([0], [1]), {}, any_distance)
    assert verdict(plan, [16, 16, 32, 16, 32, 32, 48]) == 0
    assert verdict(plan, [16, 32, 16, 49]) == 1
    assert verdict(plan, [16, 32, 32]) == VERDICT_FORWARD
    assert verdict(plan, [16, *[32] * 254, 48]) == 0
    assert verdict(plan, [16, *[32] * 255, 48]) == VERDICT_FORWARD  # 257 return addresses


def two_behind(middle: int = 32, **sites: int) -> Profile:
    """Two contexts that differ in the third call site only; the first is more important."""
    sample = Sample()
    sample.add([16, middle, 48], accesses=70, allocations=7)
    sample.add([16, middle, 49], accesses=30, allocations=3)
    for name, distance in sites.items():
        sample.distances[(0, int(name[1:]))] = distance
    return sample.profile()


def undecided_share(plan: Plan) -> tuple[tuple[int, ...], float, float]:
    assert plan.review is not None
    found = plan.review.identification
    return tuple(found.undecidable), found.undecidable_accesses, found.undecidable_allocations


def test_a_walk_that_ends_early_takes_the_majority_and_says_so() -> None:
    def no_rule_at_32(module: Module, offset: int) -> FrameRule:
        return FrameRule(RuleKind.NONE) if offset == 32 else FrameRule(RuleKind.CONSTANT, 16)

    plan = build_plan(two_behind(), grouping([0], [1]), {}, no_rule_at_32)
    assert [verdict(plan, [16, 32, last]) for last in (48, 49)] == [0, 0]
    assert undecided_share(plan) == ((1,), 0.3, 0.3)
    assert plan.review is not None
    assert plan.review.identification.ends == {"no frame rule": 1}


@pytest.mark.parametrize(
    ("distance", "cause"),
    [(24, "distance contradicts"), (-1, "distance varied"), (16, None), (0, None)],
)
def test_recorded_distances_are_checked_against_the_rule(distance: int, cause: str | None) -> None:
    plan = build_plan(two_behind(o32=distance), grouping([0], [1]), {}, any_distance)
    assert plan.review is not None
    assert plan.review.identification.ends == ({cause: 1} if cause else {})
    assert verdict(plan, [16, 32, 49]) == (0 if cause else 1)


def test_a_frame_pointer_rule_does_not_mind_a_varying_distance() -> None:
    def pointer(module: Module, offset: int) -> FrameRule:
        return FrameRule(RuleKind.FRAME_POINTER, 8, 8)

    plan = build_plan(two_behind(o32=-1), grouping([0], [1]), {}, pointer)
    assert [state.rule for state in plan.states] == [0, 2, 2, 0, 0]
    assert identified(plan) == ()


def test_recorded_distances_can_be_trusted_on_request() -> None:
    def no_rule(module: Module, offset: int) -> FrameRule:
        return FrameRule(RuleKind.NONE)

    profile = two_behind(o16=24, o32=40)
    assert identified(build_plan(profile, grouping([0], [1]), {}, no_rule)) == (1,)
    plan = build_plan(profile, grouping([0], [1]), {"trust_recorded": "yes"}, no_rule)
    assert identified(plan) == ()
    assert [state.step for state in plan.states] == [0, 24, 40, 0, 0]


def test_a_changed_module_ends_the_walk() -> None:
    def changed(module: Module, offset: int) -> FrameRule:
        raise ModuleChangedError

    plan = build_plan(two_behind(), grouping([0], [1]), {}, changed)
    assert plan.review is not None
    assert plan.review.identification.ends == {"module changed": 1}
    # The sample's modules do not exist, which is the same thing.
    again = build_plan(two_behind(), grouping([0], [1]))
    assert again.states == plan.states


@pytest.mark.parametrize("module", [-1, 2])
def test_frames_that_no_plan_can_name_end_the_walk(module: int) -> None:
    sample = Sample(modules=(*MODULES, Module("[vdso]", "")))
    sample.add([16, (module, 32), 48], accesses=70, allocations=7)
    sample.add([16, (module, 32), 49], accesses=30, allocations=3)
    sample.add([(module, 16), 48])
    plan = build_plan(sample.profile(), grouping([0], [1], [2]), {}, any_distance)
    assert verdict(plan, [16]) == 0
    assert identified(plan) == (1, 2)
    assert len(plan.states) == 2


@pytest.mark.parametrize(("short", "long", "lost"), [(90, 10, 1), (10, 90, 0)])
def test_a_stack_that_ends_where_others_go_on(short: int, long: int, lost: int) -> None:
    """Either all get the short one's group or the short one is forwarded: what costs less."""
    sample = Sample()
    sample.add([16, 32], accesses=short, allocations=short)
    sample.add([16, 32, 48], accesses=long, allocations=long)
    plan = build_plan(sample.profile(), grouping([0], [1]), {}, any_distance)
    assert identified(plan) == (lost,)
    assert verdict(plan, [16, 32]) == (0 if lost else VERDICT_FORWARD)
    assert verdict(plan, [16, 32, 48]) == (0 if lost else 1)


def test_an_ungrouped_stack_that_ends_early_costs_nothing() -> None:
    sample = Sample()
    sample.add([16, 32], accesses=90)
    sample.add([16, 32, 48], accesses=10)
    plan = build_plan(sample.profile(), grouping([1]), {}, any_distance)
    assert identified(plan) == ()
    assert [verdict(plan, [16, 32]), verdict(plan, [16, 32, 48])] == [VERDICT_FORWARD, 0]


def test_modules_of_one_build_id_are_one() -> None:
    twin = Module("/usr/elsewhere/program", MODULES[0].build_id)
    sample = Sample(modules=(MODULES[0], twin))
    sample.add([(0, 16), (1, 32)])
    sample.add([(1, 16), (0, 33)])
    plan = build_plan(sample.profile(), grouping([0], [1]), {}, any_distance)
    assert len(plan.modules) == 1
    assert [verdict(plan, [16, 32]), verdict(plan, [16, 33])] == [0, 1]


def test_simplify_accepts_a_small_minority_in_accesses_and_allocations() -> None:
    def plan_with(simplify: str, accesses: int, allocations: int) -> Plan:
        sample = Sample()
        sample.add([16, 32], accesses=990, allocations=990)
        sample.add([16, 33], accesses=accesses, allocations=allocations)
        options = {"simplify": simplify}
        return build_plan(sample.profile(), grouping([0], [1]), options, any_distance)

    assert verdict(plan_with("0", 10, 10), [16, 33]) == 1
    plan = plan_with("0.01", 10, 10)
    assert verdict(plan, [16, 33]) == 0
    assert plan.review is not None
    assert tuple(plan.review.identification.simplified) == (1,)
    assert plan.review.identification.simplified_accesses == pytest.approx(0.01)
    assert "simplified away" in dict(plan_summary(plan))
    for accesses, allocations in ((10, 11), (11, 10)):
        assert verdict(plan_with("0.01", accesses, allocations), [16, 33]) == 1


def test_max_depth_ends_the_walk() -> None:
    plan = build_plan(two_behind(), grouping([0], [1]), {"max_depth": "2"}, any_distance)
    assert identified(plan) == (1,)
    assert max(Walker(plan).identify(keys([16, 32, at])).steps for at in (48, 49)) == 2


OBJECTS = [(24, 5), (40, 5)]
ARRAYS = [(8 * at, 2) for at in range(1, 6)]


@pytest.mark.parametrize(
    ("contexts", "alignment"),
    [
        ([(OBJECTS, 0)], 0),
        ([(OBJECTS, 0), (OBJECTS, 0)], 0),
        ([(ARRAYS, 0)], 16),
        ([(OBJECTS, 0), (ARRAYS, 0)], 16),
        ([([(24, 4)], 0)], 16),  # most sizes were not even listed
        ([(OBJECTS, 16)], 16),
        ([(OBJECTS, 0), (OBJECTS, 32)], 16),  # malloc promises no more
        ([(ARRAYS, 64)], 16),
    ],
)
def test_alignment_by_size_only_for_objects_without_evidence(
    contexts: list[tuple[list[tuple[int, int]], int]], alignment: int
) -> None:
    sample = Sample()
    for at, (sizes, seen) in enumerate(contexts):
        sample.add([16, 32 + at], sizes=sizes, alignment=seen, allocations=10)
    plan = build_plan(
        sample.profile(), grouping(range(len(contexts))), {}, any_distance, prove=any_alignment
    )
    assert plan.states[1].alignment == alignment
    assert plan.checked == (CHECKED if alignment == 0 else ())


@pytest.mark.parametrize(
    ("sizes", "seen", "alignment"),
    [
        (OBJECTS, 0, 0),
        (OBJECTS, 16, 16),
        (OBJECTS, 32, 0),  # malloc promises no more than 16: the code aligned the address itself
        ([(8, 10)], 16, 0),  # no object for a vector
        ([(512, 10)], 16, 0),  # such blocks are at multiples of 16 in any case
        (ARRAYS, 0, 0),
    ],
)
def test_the_one_group_of_all_callers_is_aligned_as_one_context_demands(
    sizes: list[tuple[int, int]], seen: int, alignment: int
) -> None:
    """The group cannot tell the contexts apart, whatever the proof says."""
    sample = Sample()
    sample.add([16, 32], sizes=OBJECTS, allocations=10)
    sample.add([16, 33], sizes=sizes, alignment=seen, allocations=10)
    everything = replace(grouping([]), at_random=True)
    plan = build_plan(sample.profile(), everything, {}, any_distance, prove=any_alignment)
    assert plan.states[0].alignment == alignment
    assert plan.checked == (() if alignment else CHECKED)
    said = plan.review.alignment if plan.review is not None else ""
    assert ("recorded accesses demand it" in said) is (alignment == 16)


def test_what_is_not_proved_is_aligned_to_16() -> None:
    """Evidence from a recording is not a proof: another input runs other instructions."""
    sample = Sample()
    sample.add([16, 32], sizes=OBJECTS, allocations=10)

    def refuse(profile: Profile, trust_loaded: bool) -> Proof:
        return unproved("it is unknown")

    plan = build_plan(sample.profile(), grouping([0]), {}, any_distance, prove=refuse)
    assert plan.states[1].alignment == 16 and plan.checked == ()
    assert plan.review is not None and plan.review.alignment == "16 bytes: it is unknown"


@pytest.mark.parametrize("option", ["relax=false", "any_program=true"])
def test_options_that_leave_16_bytes(option: str) -> None:
    """Code may not be written, or other programs use the plan, whose code was not checked."""
    sample = Sample()
    sample.add([16, 32], sizes=OBJECTS, allocations=10)
    options = dict([option.split("=")])
    plan = build_plan(sample.profile(), grouping([0]), options, any_distance, prove=any_alignment)
    assert plan.states[1].alignment == 16 and plan.checked == ()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [False, False]),
        ({"huge_min": "128"}, [True, False]),
        ({"huge_min": "129"}, [False, False]),
        ({"huge_min": "192", "huge_pages": "all"}, [True, True]),
        ({"huge_min": "0", "huge_pages": "never"}, [False, False]),
    ],
)
def test_large_and_hot_groups_request_huge_pages(
    options: dict[str, str], expected: list[bool]
) -> None:
    sample = Sample()  # each context has 64 bytes live at its peak
    for at in range(3):
        sample.add([16 + at], accesses=1 if at == 2 else 10)
    plan = build_plan(sample.profile(), grouping([0, 1], [2]), options, any_distance)
    assert [group.huge_pages for group in plan.groups] == expected


def test_options_are_checked() -> None:
    with pytest.raises(BadInput, match="The plan has no option speed; its options are: simplify"):
        build_plan(Sample().profile(), grouping(), {"speed": "1"})
    with pytest.raises(BadInput, match="must be one of newest, chunks"):
        build_plan(Sample().profile(), grouping(), {"reuse": "never"})


def test_too_many_groups_are_refused() -> None:
    sample = Sample()
    many = grouping(*[[sample.add([16 + at])] for at in range(4097)])
    with pytest.raises(BadInput, match="4097 groups, a plan holds 4096"):
        build_plan(sample.profile(), many, {}, any_distance)


def test_the_explanation_names_reason_stack_and_cost() -> None:
    text = explain(build_plan(two_behind(), grouping([0], [1]), {}, any_distance))
    for part in ("group 0: because", "70 accesses", "program+0x10", "program+0x20", "undecidable"):
        assert part in text
