"""The affinity graph with names and groups: unique labels of contexts, weighted edges."""

from __future__ import annotations

from pathlib import Path

import pytest

from halo.base.errors import BadInput, BadPlan
from halo.plan.strategies.planning import make_plan, save_plan
from halo.record.profile import write_profile
from halo.record.profile.site_labels import distinct_labels, parse_site, short_function
from halo.report.results.graph import build_graph, source_of_files
from support.samples.plan import Sample


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("main", "main"),
        ("pov::Copy_CSG(pov::Object_Struct*)", "pov::Copy_CSG"),
        ("a::b::Tree::insert(int, std::pair<int, int>)", "Tree::insert"),
        ("a::(anonymous namespace)::step()", "a::step"),
        ("void std::make<std::vector<int> >(int&&) const", "std::make"),
        ("operator new(unsigned long)", "operator new"),
        ("Shape::operator()(int) const", "Shape::operator()"),
        ("libxml2.so.2.9.14", "libxml2"),
    ],
)
def test_functions_in_short(name: str, short: str) -> None:
    assert short_function(name) == short


def test_sites_are_taken_apart() -> None:
    site = parse_site("f(int) at /src/x/file.cc:62 (inlined into g(int), h())")
    assert (site.function, site.place, str(site)) == ("f", "file.cc:62", "f:62")
    assert str(parse_site("prog+0x12ab")) == "prog+0x12ab"


def test_labels_name_what_tells_contexts_apart() -> None:
    stacks = {
        0: ["wrapper at m.c:1", "make_sphere at s.c:5", "main at s.c:9"],
        1: ["wrapper at m.c:1", "make_box at s.c:7", "main at s.c:9"],
        2: ["wrapper at m.c:1", "make_box at s.c:8", "main at s.c:9"],
        3: ["alone at a.c:1", "main at s.c:9"],
        4: ["twin", "main"],
        5: ["twin", "main"],
    }
    labels = distinct_labels(stacks)
    assert labels[0] == "wrapper ← make_sphere"
    assert labels[3] == "alone"
    assert (labels[1], labels[2]) == ("wrapper:1 ← make_box:7", "wrapper:1 ← make_box:8")
    assert (labels[4], labels[5]) == ("twin #4", "twin #5")
    assert len(set(labels.values())) == len(stacks)


def sample() -> Sample:
    made = Sample()
    for at in range(4):
        made.add([16 + at, 99], accesses=100 - at)
    for edge in ((0, 1, 500), (1, 2, 50), (2, 3, 5), (0, 0, 70)):
        made.edge(*edge)
    return made


def saved(tmp_path: Path) -> tuple[Path, Path]:
    profile = tmp_path / "p.profile"
    write_profile(sample().profile(), profile)
    plan = tmp_path / "p.plan"
    save_plan(make_plan(sample().profile(), "halo", {"trust_recorded": "true"}), plan)
    return profile, plan


def test_edges_below_the_least_weight_are_hidden(tmp_path: Path) -> None:
    source = source_of_files(saved(tmp_path)[0], None)
    graph = build_graph(source, min_weight=50)
    assert graph.edges == ((0, 1, 500), (1, 2, 50))
    assert [(node.context, node.loop) for node in graph.nodes] == [(0, 70), (1, 0), (2, 0)]
    assert [node.context for node in build_graph(source, top=1).nodes] == [0, 1]
    assert "the heaviest 1 of 4 edges" in build_graph(source, top=1).note


def test_groups_are_those_of_the_plan(tmp_path: Path) -> None:
    profile, plan = saved(tmp_path)
    graph = build_graph(source_of_files(profile, plan))
    groups = {node.context: node.group for node in graph.nodes}
    assert groups[0] == groups[1] == 0
    assert "groups of p.plan; all 4 edges" in graph.note


def test_an_empty_graph_is_refused(tmp_path: Path) -> None:
    profile, _ = saved(tmp_path)
    with pytest.raises(BadInput, match=r"weight of 501 or more; the heaviest has 500"):
        build_graph(source_of_files(profile, None), min_weight=501)
    lonely = Sample()
    lonely.add([16])
    write_profile(lonely.profile(), profile)
    with pytest.raises(BadInput, match="has an empty affinity graph"):
        build_graph(source_of_files(profile, None))


def test_a_plan_of_another_profile_is_refused(tmp_path: Path) -> None:
    profile, plan = saved(tmp_path)
    other = sample()
    other.add([77])
    write_profile(other.profile(), profile)
    with pytest.raises(BadInput, match="was not made of"):
        source_of_files(profile, plan)
    plan.with_name("p.plan.json").unlink()
    with pytest.raises(BadPlan, match=r"no matching p\.plan\.json"):
        source_of_files(profile, plan)
