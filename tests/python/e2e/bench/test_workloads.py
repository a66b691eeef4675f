"""The bundled workloads do what they say: checked against slow, obvious versions in Python.

A workload that computes the wrong thing, or whose output depends on where its objects lie, cannot
show that moving objects is safe or worthwhile.
"""

import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from halo.base.settings import read_settings
from halo.measure.bundled import find_bundled, list_plain
from halo.record.profile import Context, Profile, name_frames, read_profile
from support.command import BUILD, halo
from support.programs.workloads import MASK, WORKLOADS, Rng, mix64, numbers, output, run

# A workload without a tiny input fails its tests: add one here along with its entry in the list.
TINY_INPUT = {
    "hospital": ["3", "50", "1"],
    "scene": ["500", "3", "1"],
    "mst": ["200", "600", "1"],
    "mesh": ["9", "7", "300", "1"],
    "pagerank": ["60", "400", "5", "1"],
    "rbtree": ["500", "1000", "200", "1"],
    "server": ["500", "20", "50", "2", "1"],
    "sessions-240": ["20", "240", "20000", "1"],
    "sessions-256": ["20", "256", "20000", "1"],
    "nodes-4080": ["20", "4080", "5000", "1"],
    "nodes-4096": ["20", "4096", "5000", "1"],
    "lattice-510": ["3", "510", "4", "1"],
    "lattice-512": ["3", "512", "4", "1"],
    "scan": ["20", "30", "4080", "5", "1"],
    "churn": ["20", "20000", "1"],
    "tree": ["1000", "3", "1"],
    "lists": ["20", "50", "1"],
    "hashindex": ["300", "5", "1"],
    "frames": ["3", "500", "800", "40", "1"],
    "sweep": ["50", "6", "1"],
}
VARIANTS = {
    name: workload["variant_of"] for name, workload in WORKLOADS.items() if "variant_of" in workload
}
TINY_INPUT |= {variant: TINY_INPUT[plain] for variant, plain in VARIANTS.items()}


@pytest.mark.parametrize("name", WORKLOADS)
def test_output_is_the_same_twice_and_under_another_allocator(name: str) -> None:
    first = output(name, *TINY_INPUT[name])
    assert re.search(r"^checksum [0-9a-f]{16}$", first, re.MULTILINE)
    assert output(name, *TINY_INPUT[name]) == first
    jemalloc = next(Path("/usr/lib").glob("*/libjemalloc.so.2"))
    assert output(name, *TINY_INPUT[name], preload=jemalloc) == first


@pytest.mark.parametrize("name", WORKLOADS)
def test_output_depends_on_the_seed(name: str) -> None:
    *sizes, seed = TINY_INPUT[name]
    assert output(name, *sizes, seed) != output(name, *sizes, int(seed) + 1)


@pytest.mark.parametrize("name", WORKLOADS)
def test_train_and_ref_differ_in_values_only(name: str) -> None:
    workload = WORKLOADS[name]
    assert len(workload["train"]) == len(workload["ref"]) == len(TINY_INPUT[name])
    assert workload["train"] != workload["ref"]


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("wrong", ["nothing", "too many", "no number", "trailing text", "negative"])
def test_wrong_usage_is_one_sentence_and_exit_code_2(name: str, wrong: str) -> None:
    good = TINY_INPUT[name]
    arguments = {
        "nothing": [],
        "too many": [*good, "1"],
        "no number": ["many", *good[1:]],
        "trailing text": [good[0] + "k", *good[1:]],
        "negative": ["-1", *good[1:]],
    }[wrong]
    result = run(name, arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert re.fullmatch(r"[^\n]+\.\n", result.stderr)


def test_hospital_serves_a_lone_village_like_a_queue_with_one_server() -> None:
    steps, seed, steps_per_patient = 300, 5, 13
    rng = Rng(mix64(seed))
    ill = treated = waiting = 0
    free_at = 0
    for step in range(steps):
        if free_at == step and step > 0:
            treated += 1
        if free_at <= step and waiting:
            waiting -= 1
            free_at = step + steps_per_patient
        if rng.below(100) < 33:
            ill += 1
            waiting += 1
    assert numbers("hospital", 0, steps, seed) == [treated, ill - treated]


class SceneCount:
    """Walks the grammar of a scene description and counts what a parser meets."""

    def __init__(self, seed: int) -> None:
        self.rng = Rng(seed)
        self.objects = self.comments = self.errors = 0

    def token(self) -> None:
        for _ in range(10):
            self.rng.next()

    def statement(self) -> None:
        draw = self.rng.below(1000)
        if draw < 450:
            self.token()
            self.rng.next()
            self.comments += 1
        else:
            if draw < 550:
                self.token()
            self.errors += not self.object(depth=0)

    def object(self, depth: int) -> bool:
        draw = self.rng.below(1000)
        self.token()
        composite = draw >= 900
        if draw < 5 or (composite and depth == 4):
            return False
        self.objects += 1
        parts = 2 + self.rng.below(4) if composite else 0
        return all(self.object(depth + 1) for _ in range(parts))


def test_scene_parses_every_statement() -> None:
    count = SceneCount(3)
    for _ in range(5000):
        count.statement()
    assert count.errors > 0
    assert numbers("scene", 5000, 1, 3) == [count.objects, count.comments, count.errors]


def test_mst_weighs_as_much_as_kruskals() -> None:
    vertices, extra, seed = 300, 900, 4
    rng = Rng(seed)
    edges = []
    for vertex in range(1, vertices):
        other = rng.below(vertex)
        edges.append((1 + rng.below(1 << 20), other, vertex))
    for _ in range(extra):
        pair = rng.below(vertices), rng.below(vertices)
        edges.append((1 + rng.below(1 << 20), *pair))
    component = list(range(vertices))
    weight = 0
    for cost, a, b in sorted(edges):
        if component[a] != component[b]:
            weight += cost
            old, new = component[a], component[b]
            component = [new if c == old else c for c in component]
    assert numbers("mst", vertices, extra, seed) == [weight, vertices]


def mesh_triangles(columns: int, rows: int, rng: Rng) -> list[tuple[int, int, int]]:
    number = list(range(columns * rows))
    rng.shuffle(number)
    for _ in range(2 * columns * rows):
        rng.unit()  # coordinates, which do not steer the walk
    triangles = []
    for row in range(rows - 1):
        for column in range(columns - 1):
            corner = row * columns + column
            left, right = number[corner], number[corner + 1]
            below_left, below_right = number[corner + columns], number[corner + columns + 1]
            triangles += [(left, right, below_left), (right, below_right, below_left)]
    rng.shuffle(triangles)
    return triangles


def test_mesh_walks_along_the_least_visited_triangles() -> None:
    columns, rows, steps, seed = 12, 9, 150, 6
    triangles = mesh_triangles(columns, rows, Rng(seed))

    def neighbours(current: int) -> Iterator[int]:
        a, b, c = triangles[current]
        for side in ({a, b}, {b, c}, {c, a}):
            for other, points in enumerate(triangles):
                if other != current and side <= set(points):
                    yield other

    visits = [0] * len(triangles)
    current = 0
    for _ in range(steps):
        minimum = min(neighbours(current), key=lambda triangle: visits[triangle])
        visits[current] += 1
        current = minimum
    visited = sum(count > 0 for count in visits)
    assert visited > 1
    assert numbers("mesh", columns, rows, steps, seed) == [visited, len(triangles)]


def test_pagerank_flows_along_the_links() -> None:
    nodes, links, rounds, seed = 80, 500, 4, 7
    rng = Rng(seed)
    by_popularity = list(range(nodes))
    rng.shuffle(by_popularity)
    edges = []
    for _ in range(links):
        source = rng.below(nodes)
        edges.append((source, by_popularity[int(rng.unit() ** 3 * nodes)]))
    out_degree = [sum(source == node for source, _ in edges) for node in range(nodes)]
    rank = [1.0] * nodes
    for _ in range(rounds):
        # In place: a node sees the new rank of those before it.
        for node in range(nodes):
            shares = (rank[s] / out_degree[s] for s, target in edges if target == node)
            rank[node] = 0.15 + 0.85 * math.fsum(shares)
    total, rounds_done = numbers("pagerank", nodes, links, rounds, seed)
    assert rounds_done == rounds
    assert total == pytest.approx(sum(rank), rel=1e-5)


def test_rbtree_holds_what_a_set_would() -> None:
    nodes, lookups, renewals, seed = 3000, 5000, 700, 8
    rng, base = Rng(seed), mix64(seed)

    def payload(number: int) -> int:
        return mix64((base + number) & MASK) >> 40

    tree = {payload(number) for number in range(nodes)}
    found = 0
    per_renewal = lookups // (renewals + 1)
    for renewal in range(renewals + 1):
        count = per_renewal if renewal < renewals else lookups - renewals * per_renewal
        found += sum(payload(renewal + rng.below(nodes)) in tree for _ in range(count))
        if renewal < renewals:
            tree.discard(payload(renewal))
            tree.add(payload(nodes + renewal))
    assert numbers("rbtree", nodes, lookups, renewals, seed) == [len(tree), found]


def test_server_answers_every_request_with_its_document() -> None:
    requests, sessions, resources, seed = 400, 30, 60, 9
    rng = Rng(seed)
    words = 0
    for _ in range(requests):
        rng.below(sessions)
        resource = int(rng.unit() ** 3 * resources)
        words += 4 + Rng(resource).below(28)
    assert numbers("server", requests, sessions, resources, 2, seed) == [requests, words]


def test_server_output_does_not_depend_on_the_number_of_threads() -> None:
    outputs = {output("server", 3000, 40, 80, threads, 1) for threads in (1, 2, 3, 8)}
    assert len(outputs) == 1


def test_variants_are_measured_only_where_they_are_named() -> None:
    settings = read_settings()
    plain = {bundled.name for bundled in list_plain(settings)}
    assert {"hospital", "scene", "povray"} <= plain
    for name in VARIANTS:
        assert name not in plain
        assert find_bundled(settings, name).name == name


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_has_the_inputs_of_its_plain_program(name: str) -> None:
    for key in ("train", "ref"):
        assert WORKLOADS[name][key] == WORKLOADS[VARIANTS[name]][key]


# With sizes of nothing and of one, and such that objects are freed and errors are met.
VARIED_INPUTS = {
    "hospital": ["0 0 0", "0 1 3", "1 1 1", "3 0 1", "0 300 5", "2 999 8", "4 400 7"],
    "scene": ["0 0 0", "0 5 1", "1 1 1", "5 0 1", "60 2 9", "4000 3 2", "30000 2 5"],
    "mesh": ["2 2 0 0", "2 2 50 1", "3 2 999 5", "40 30 3000 2", "200 150 5000 3"],
    "pagerank": ["1 0 0 0", "1 5 3 1", "300 0 4 1", "2000 15000 6 2", "20000 90000 2 3"],
    "rbtree": ["1 0 0 0", "1 10 5 1", "2000 0 300 2", "3000 8000 1000 4", "40000 9000 8000 5"],
}


@pytest.mark.parametrize(
    ("variant", "arguments"),
    [(name, text.split()) for name, plain in VARIANTS.items() for text in VARIED_INPUTS[plain]],
)
def test_a_variant_prints_what_its_plain_program_prints(variant: str, arguments: list[str]) -> None:
    assert output(variant, *arguments) == output(VARIANTS[variant], *arguments)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_explains_its_usage_as_its_plain_program_does(name: str) -> None:
    told = [run(program, []).stderr.partition(": ") for program in (name, VARIANTS[name])]
    assert [Path(program).name for program, _, _ in told] == [name, VARIANTS[name]]
    assert told[0][2] == told[1][2]


RECORDED_INPUT = {"hospital": ["4", "200", "1"], "scene": ["3000", "3", "1"]}


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Profile]:
    folder = tmp_path_factory.mktemp("recorded")

    @cache
    def record(name: str) -> Profile:
        program = BUILD / "bench" / name
        arguments = RECORDED_INPUT[VARIANTS.get(name, name)]
        path = folder / f"{name}.profile"
        outcome = halo("record", "-o", str(path), "--", str(program), *arguments)
        assert outcome.status == 0, outcome.stderr
        return read_profile(path)

    return record


def made_by(profile: Profile, function: str) -> dict[int, Context]:
    """The contexts whose stack holds that function, itself or inlined."""
    stacks = {number: list(profile.stack(number)) for number in range(len(profile.contexts))}
    names = name_frames(profile, {frame for stack in stacks.values() for frame in stack})
    pattern = re.compile(rf"\b{function}\b")
    return {
        number: profile.contexts[number]
        for number, stack in stacks.items()
        if any(pattern.search(names[frame]) for frame in stack)
    }


def callers_of_malloc(profile: Profile, contexts: dict[int, Context]) -> set[int]:
    return {next(profile.stack(number)) for number in contexts}


def malloc_calls(profile: Profile) -> int:
    return profile.totals.allocations + profile.totals.untracked


def test_every_kind_of_object_of_hospital_has_a_call_of_malloc(
    record: Callable[[str], Profile],
) -> None:
    """Each has its own: with a shared one they would differ in the callers only."""
    profile = record("hospital")
    kinds = [made_by(profile, f"{kind}_create") for kind in ("village", "patient", "cell")]
    sites = [callers_of_malloc(profile, contexts) for contexts in kinds]
    assert [len(callers) for callers in sites] == [1, 1, 1]
    assert len(set.union(*sites)) == 3
    assert len(kinds[2]) >= 4  # lists to append to


def test_every_kind_of_object_of_scene_has_contexts_of_its_own(
    record: Callable[[str], Profile],
) -> None:
    """Behind the one wrapper, which has the only call of malloc."""
    profile = record("scene")
    shapes = [f"create_{kind}" for kind in ("sphere", "box", "plane", "composite")]
    kinds = [made_by(profile, function) for function in (*shapes, "create_transform", "Notes::add")]
    assert all(kinds)
    assert sum(map(len, kinds)) == len(set().union(*kinds))
    assert len(set.union(*(callers_of_malloc(profile, contexts) for contexts in kinds))) == 1


def test_the_free_lists_of_hospital_take_from_malloc_what_lives_at_once(
    record: Callable[[str], Profile],
) -> None:
    plain, variant = record("hospital"), record("hospital-freelist")
    [patients] = made_by(plain, "patient_create").values()
    max_at_once = patients.peak_live_bytes // patients.max_size
    assert 0 < max_at_once < patients.allocations
    for function in ("patient_create", "cell_create"):
        contexts = made_by(variant, function).values()
        assert sum(context.allocations for context in contexts) == max_at_once
        assert sum(context.frees for context in contexts) == 0


def test_the_region_of_scene_calls_malloc_a_hundredth_as_often(
    record: Callable[[str], Profile],
) -> None:
    plain, variant = record("scene"), record("scene-region")
    assert 0 < 100 * malloc_calls(variant) <= malloc_calls(plain)
    for function in ("create_transform", "create_sphere", "Notes::add"):
        assert made_by(plain, function) and not made_by(variant, function)
