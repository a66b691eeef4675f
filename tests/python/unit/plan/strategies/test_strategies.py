"""Every strategy groups what it says it groups, and figure 6 is implemented exactly."""

from __future__ import annotations

import json
import random
import re
import sys
import time
import types
from itertools import combinations_with_replacement
from pathlib import Path

import pytest

from halo.base.errors import BadInput
from halo.plan import build_plan, write_plan
from halo.plan.options import describe_options
from halo.plan.strategies import halo
from halo.plan.strategies.factory import make_grouping, names
from halo.plan.strategies.halo import Options, group_graph
from halo.plan.strategies.registry import STRATEGIES
from halo.record.profile import AffinityGraph, Profile
from support.command import REPOSITORY
from support.samples.plan import Sample, any_alignment, any_distance

# Than a profile as it usually is.
WANT_MORE = {"from-file", "hot-streams", "conflict", "confine", "search"}
DOCS = REPOSITORY / "docs" / "strategies.md"


# A slow and obvious figure 6, for checking the fast one.


def score(weights: dict[tuple[int, int], int], nodes: frozenset[int]) -> float:
    inside = {pair: w for pair, w in weights.items() if nodes.issuperset(pair)}
    loops = sum(1 for (a, b), w in inside.items() if a == b and w > 0)
    places = loops + len(nodes) * (len(nodes) - 1) // 2
    return sum(inside.values()) / places if places else 0.0


def merge_benefit(
    weights: dict[tuple[int, int], int], group: frozenset[int], stranger: int, tolerance: float
) -> float:
    joint = score(weights, group | {stranger})
    return joint - (1 - tolerance) * max(
        score(weights, group), score(weights, frozenset({stranger}))
    )


def figure_6(graph: AffinityGraph, args: Options) -> list[list[int]]:
    accesses = dict(zip(graph.nodes, graph.accesses, strict=True))
    weights = {(a, b): w for a, b, w in graph.edges if w >= args.min_weight}
    available = set(graph.nodes)
    groups = []
    while available:
        edges = sorted(pair for pair in weights if available.issuperset(pair))
        if not edges:
            break
        strongest = max(edges, key=lambda pair: weights[pair])
        group = [max(strongest, key=lambda node: accesses[node])]
        available -= set(group)
        while not args.max_group_members or len(group) < args.max_group_members:
            best_score, best_match = 0.0, None
            for stranger in sorted(available):
                benefit = merge_benefit(weights, frozenset(group), stranger, args.merge_tol)
                if benefit > best_score:
                    best_score, best_match = benefit, stranger
            if best_match is None:
                break
            group.append(best_match)
            available.remove(best_match)
        weight = sum(w for pair, w in weights.items() if set(group).issuperset(pair))
        if weight >= graph.total_accesses * args.gthresh:
            groups.append(group)
    return groups


def random_graph(rng: random.Random, nodes: int, density: float) -> AffinityGraph:
    ids = rng.sample(range(100), nodes)
    pairs = combinations_with_replacement(sorted(ids), 2)
    edges = tuple((a, b, rng.randint(0, 12)) for a, b in pairs if rng.random() < density)
    accesses = tuple(rng.randint(1, 30) for _ in ids)
    return AffinityGraph(tuple(ids), accesses, edges, sum(accesses))


@pytest.mark.parametrize("seed", range(150))
def test_figure_6_fast_equals_slow(seed: int) -> None:
    rng = random.Random(seed)
    graph = random_graph(rng, rng.randint(1, 14), rng.random())
    options = Options(
        min_weight=rng.randint(0, 4),
        merge_tol=rng.choice((0.0, 0.05, 0.3)),
        max_group_members=rng.choice((0, 1, 2, 5)),
        gthresh=rng.choice((0.0, 0.1, 0.5)),
    )
    assert group_graph(graph, options) == figure_6(graph, options)


def test_score_of_a_single_node_without_a_loop_is_zero() -> None:
    """Figure 7 says 0 / 0 here; with anything but 0 no two such nodes would ever merge."""
    assert halo.density(0, 0, 1) == 0.0
    assert halo.density(8, 1, 1) == 8.0
    assert halo.density(9, 1, 2) == 4.5


def test_a_node_better_off_alone_is_not_merged() -> None:
    graph = AffinityGraph((0, 1), (9, 9), ((0, 0, 100), (0, 1, 10), (1, 1, 100)), 18)
    assert group_graph(graph, Options(gthresh=0.0)) == [[0], [1]]


def test_tolerance_admits_a_slightly_worse_score() -> None:
    edges = ((0, 1, 100), (0, 2, 95), (1, 2, 95))
    graph = AffinityGraph((0, 1, 2), (3, 2, 1), edges, 6)
    assert group_graph(graph, Options(merge_tol=0.05, gthresh=0.0)) == [[0, 1, 2]]
    assert group_graph(graph, Options(merge_tol=0.0, gthresh=0.0)) == [[0, 1]]


def test_figure_6_handles_a_large_graph() -> None:
    rng = random.Random(1)
    nodes = 5_000
    weights = {
        tuple(sorted((rng.randrange(nodes), rng.randrange(nodes)))): rng.randint(1, 10**6)
        for _ in range(200_000)
    }
    edges = tuple(sorted((a, b, w) for (a, b), w in weights.items()))
    accesses = tuple(rng.randint(1, 10**7) for _ in range(nodes))
    graph = AffinityGraph(tuple(range(nodes)), accesses, edges, sum(accesses))
    start = time.process_time()
    groups = group_graph(graph, Options(gthresh=0.0))
    assert time.process_time() - start < 20
    members = [at for group in groups for at in group]
    assert len(members) == len(set(members))


def sample() -> Profile:
    """Two pairs used together (0-1 and 2-3), one hot loner (4), a cold one (5), a large one (6)."""
    made = Sample()
    made.add([16, 32], accesses=400, allocations=10, sizes=[(24, 10)])
    made.add([16, 33], accesses=300, allocations=10, sizes=[(40, 10)])
    made.add([17, 32], accesses=100, allocations=10, sizes=[(24, 10)])
    made.add([17, 33], accesses=100, allocations=10, sizes=[(24, 10)])
    made.add([18, 33], accesses=80, allocations=10, sizes=[(8, 3), (64, 3)])
    made.add([19, 33], accesses=1, allocations=10)
    made.add([20, 33], accesses=19, allocations=10, sizes=[(5000, 10)])
    made.edge(0, 1, 200)
    made.edge(2, 3, 90)
    made.edge(3, 4, 1)
    return made.profile()


def groups_of(name: str, **options: str) -> list[tuple[int, ...]]:
    return [group.contexts for group in make_grouping(sample(), name, options).groups]


def test_none_groups_nothing() -> None:
    assert groups_of("none") == []


def test_one_pool_groups_the_hot() -> None:
    assert groups_of("one-pool") == [(0, 1, 2, 3)]
    assert groups_of("one-pool", coverage="1") == [(0, 1, 2, 3, 4, 5)]


def test_dense_groups_all_small_objects() -> None:
    assert groups_of("dense") == [(0, 1, 2, 3, 4, 5)]


def test_halo_finds_the_pairs() -> None:
    assert groups_of("halo", coverage="0.95", min_weight="2") == [(0, 1), (2, 3)]


def test_halo_respects_group_threshold_and_member_limit() -> None:
    assert groups_of("halo", coverage="0.95", gthresh="0.1") == [(0, 1)]
    assert groups_of("halo", max_group_members="1", gthresh="0") == [(0,), (2,)]


def test_halo_hot_adds_the_loners() -> None:
    found = groups_of("halo-hot", coverage="0.97", min_weight="2")
    assert found == [(0, 1), (2, 3), (4,)]


def test_hot_cold_splits_in_two() -> None:
    assert groups_of("hot-cold") == [(0, 1, 2, 3), (4, 5)]


def test_size_affinity_splits_components_by_size() -> None:
    assert groups_of("size-affinity", coverage="0.95") == [(0,), (1,), (2, 3), (4,)]


def test_per_site_groups_by_the_caller_of_malloc() -> None:
    assert groups_of("per-site") == [(0, 1), (2, 3)]
    assert groups_of("per-site", max_groups="1") == [(0, 1)]
    reasons = [group.reason for group in make_grouping(sample(), "per-site", {}).groups]
    assert reasons == ["allocated at program+0x10", "allocated at program+0x11"]


def test_random_depends_on_the_seed_only() -> None:
    results = {seed: groups_of("random", groups="2", seed=str(seed)) for seed in range(8)}
    assert all(
        groups_of("random", groups="2", seed=str(seed)) == it for seed, it in results.items()
    )
    assert len({str(it) for it in results.values()}) > 1
    assert all(sorted(sum(it, ())) == [0, 1, 2, 3] for it in results.values())


def test_random_pools_have_no_contexts_and_no_states() -> None:
    for options, pools in (({}, 4), ({"pools": "7"}, 7)):
        grouping = make_grouping(sample(), "random-pools", options)
        assert [group.contexts for group in grouping.groups] == [()] * pools
        plan = build_plan(sample(), grouping, {"max_object": "64"}, any_distance)
        assert plan.at_random and len(plan.groups) == pools
        assert (len(plan.states), plan.max_object, plan.executable) == (1, 64, 0)
        assert plan.states[0].alignment == 16, "context 4 makes arrays"
    anywhere = build_plan(sample(), grouping, {"any_program": "true"})
    assert (anywhere.modules, anywhere.executable) == ((), None)
    objects = Sample()
    objects.add([16])
    drawn = make_grouping(objects.profile(), "random-pools")
    by_size = build_plan(objects.profile(), drawn, {}, prove=any_alignment)
    assert by_size.states[0].alignment == 0


def test_everything_is_one_pool_that_is_aligned_wherever_that_is_proved() -> None:
    grouping = make_grouping(sample(), "everything")
    assert [group.contexts for group in grouping.groups] == [()]
    plan = build_plan(sample(), grouping, {}, prove=any_alignment)
    assert plan.at_random and plan.states[0].alignment == 0, "context 4 makes arrays"
    strict = build_plan(sample(), grouping, {"few_sizes": "0"}, prove=any_alignment)
    assert strict.states[0].alignment == 16
    peak = sum(context.peak_live_bytes for context in sample().contexts)
    for minimum, expected in ((1, True), (peak + 1, False)):
        huge = build_plan(sample(), grouping, {"huge_min": str(minimum)}, prove=any_alignment)
        assert [group.huge_pages for group in huge.groups] == [expected]


def test_coverage_and_weight_are_measured() -> None:
    (first, _) = make_grouping(sample(), "halo", {"coverage": "0.95", "min_weight": "2"}).groups
    assert (first.coverage, first.weight) == (0.7, 200)


def test_large_objects_are_in_no_group() -> None:
    for name in set(names()) - WANT_MORE:
        assert all(6 not in group for group in groups_of(name))
    assert (6,) in groups_of("per-site", coverage="1", max_size="5000")


def test_from_file_takes_lists_of_ids(tmp_path: Path) -> None:
    path = tmp_path / "groups.json"
    path.write_text('{"groups": [[0, 4], {"contexts": [5, 6], "reason": "mine"}, [6]]}')
    # 6 is too large; what is left of its groups stays.
    assert groups_of("from-file", file=str(path)) == [(0, 4), (5,)]
    assert make_grouping(sample(), "from-file", {"file": str(path)}).groups[1].reason == "mine"


def test_from_file_takes_an_edited_plan(tmp_path: Path) -> None:
    grouping = make_grouping(sample(), "halo", {"coverage": "0.95", "min_weight": "2"})
    write_plan(build_plan(sample(), grouping, {}, any_distance), tmp_path / "a.plan")
    review = tmp_path / "a.plan.json"
    assert groups_of("from-file", file=str(review)) == [(0, 1), (2, 3)]
    document = json.loads(review.read_text())
    document["groups"][1]["contexts"].pop()
    review.write_text(json.dumps(document))
    assert groups_of("from-file", file=str(review)) == [(0, 1), (2,)]


def test_from_file_takes_the_contexts_that_a_plan_does_not_describe(tmp_path: Path) -> None:
    path = tmp_path / "groups.json"
    others = {"count": 2, "ranges": [[2, 3]], "accesses": 5}
    groups = [{"contexts": [{"context": 0}], "others": others}]
    path.write_text(json.dumps({"groups": groups}))
    assert groups_of("from-file", file=str(path)) == [(0, 2, 3)]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"groups": [{"contexts": [], "others": 1}]}', "the others of group 0 are not ranges"),
        (
            '{"groups": [{"contexts": [], "others": {"count": 1, "ranges": [[1, 99]]}}]}',
            "names context 99, which is not there",
        ),
        (
            '{"groups": [{"contexts": [0], "others": {"count": 9, "ranges": [[1, 2]]}}]}',
            "lists only some of the contexts of group 0",
        ),
        ("{", "is not JSON"),
        ("[]", "no list of groups"),
        ('{"groups": 3}', "no list of groups"),
        ('{"groups": [3]}', "group 0 is not a list"),
        ('{"groups": [[7]]}', "names context 7, which is not there"),
        ('{"groups": [["a"]]}', "which is not there"),
        ('{"groups": [[true]]}', "which is not there"),
        ('{"groups": [[1], [1]]}', "in two groups"),
        ('{"groups": [[1, 1]]}', "in two groups"),
        ('{"groups": [], "profile": {"fingerprint": "00000000"}}', "made from another profile"),
    ],
)
def test_from_file_refuses(tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "groups.json"
    path.write_text(content)
    with pytest.raises(BadInput, match=sentence):
        groups_of("from-file", file=str(path))


def test_from_file_refuses_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        groups_of("from-file", file=str(tmp_path / "none"))
    with pytest.raises(BadInput, match="needs the option file=PATH"):
        groups_of("from-file")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"colour": "1"}, "has no option colour; its options are: coverage, min_weight, merge_tol"),
        ({"coverage": "much"}, "coverage must be a number, not 'much'"),
        ({"coverage": "nan"}, "coverage must be a number"),
        ({"coverage": "1.5"}, "coverage must be at most 1"),
        ({"min_weight": "2.5"}, "min_weight must be a whole number"),
        ({"min_weight": "-1"}, "min_weight must be at least 0"),
        ({"max_size": "0"}, "max_size must be a number of bytes"),
    ],
)
def test_options_are_checked(options: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        make_grouping(sample(), "halo", options)


def test_an_unknown_strategy_names_the_known_ones() -> None:
    with pytest.raises(
        BadInput, match="strategy magic does not exist; choose one of: none, one-pool"
    ):
        make_grouping(sample(), "magic", {})


def test_all_strategies_survive_an_empty_profile() -> None:
    for name in set(names()) - WANT_MORE:
        assert make_grouping(Sample().profile(), name, {}).groups == ()


def test_every_strategy_and_option_is_documented() -> None:
    text = DOCS.read_text()
    for strategy in STRATEGIES:
        section = re.search(rf"^### `{strategy.name}`\n(.*?)(?=^##|\Z)", text, re.M | re.S)
        assert section, strategy.name
        for option, default, _ in describe_options(strategy.options):
            assert f"`{option}`" in section[1], (strategy.name, option)
            assert default in section[1].lower(), (strategy.name, option)


def test_the_documented_example_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/strategies.md shows how to add a strategy; that code must go on working."""
    (code,) = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.S)
    module = types.ModuleType("by_size_example")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # dataclasses look it up there
    exec(compile(code, str(DOCS), "exec"), module.__dict__)
    monkeypatch.setattr("halo.plan.strategies.factory.STRATEGIES", [*STRATEGIES, module.STRATEGY])
    grouping = make_grouping(sample(), "by-size", {"min_contexts": "2"})
    assert [group.contexts for group in grouping.groups] == [(0, 2, 3, 5)]
