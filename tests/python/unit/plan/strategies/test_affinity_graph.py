"""The 90 % filter of the affinity graph (HALO, section 4.1)."""

from __future__ import annotations

import pytest

from halo.record.profile import Profile, affinity_graph
from support.samples.plan import Sample


def profile() -> Profile:
    sample = Sample()
    for at, accesses in enumerate((5, 60, 30, 5, 0)):
        sample.add([16 + at], accesses=accesses)
    for a in range(5):
        for b in range(a, 5):
            sample.edge(a, b, 1)
    return sample.profile()


@pytest.mark.parametrize(
    ("coverage", "kept"),
    [
        (0.0, ()),
        (0.5, (1,)),
        (0.6, (1,)),
        (0.61, (1, 2)),
        (0.9, (1, 2)),
        (0.95, (1, 2, 0)),
        (1.0, (1, 2, 0, 3)),
    ],
)
def test_keeps_the_hottest_until_the_share_is_reached(
    coverage: float, kept: tuple[int, ...]
) -> None:
    graph = affinity_graph(profile(), coverage)
    assert graph.nodes == kept
    assert graph.total_accesses == 100


def test_keeps_only_edges_between_kept_nodes() -> None:
    graph = affinity_graph(profile())
    assert graph.edges == ((1, 1, 1), (1, 2, 1), (2, 2, 1))
    assert graph.accesses == (60, 30)


def test_a_profile_without_accesses_has_an_empty_graph() -> None:
    sample = Sample()
    sample.add([16], accesses=0)
    assert affinity_graph(sample.profile()).nodes == ()


def test_unwanted_contexts_do_not_make_room_for_others() -> None:
    graph = affinity_graph(profile(), 0.9, keep=lambda context: context.accesses != 60)
    assert graph.nodes == (2,)
