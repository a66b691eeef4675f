"""Times of interleaved rounds."""

from __future__ import annotations

import pytest

from halo.base.schema.trial import Trial
from halo.measure.runs.rounds import relative_times


def samples(*walls: float) -> list[Trial]:
    return [Trial(wall=wall, user=wall, system=0.0, peak_memory=0) for wall in walls]


def test_a_slow_spell_of_the_machine_does_not_change_the_order() -> None:
    """Seen with mst: the machine became twice as fast in the middle of the fourth round."""
    found = {
        "jemalloc": samples(2.413, 2.575, 2.090, 1.237, 1.170),
        "mimalloc": samples(2.350, 2.506, 2.495, 2.564, 1.114),
        "tcmalloc": samples(2.433, 2.562, 2.390, 1.150, 1.250),
    }
    times = relative_times(found)
    assert sorted(times, key=times.__getitem__) == ["mimalloc", "jemalloc", "tcmalloc"]


def test_times_are_relative_to_the_mean_of_the_round() -> None:
    found = relative_times({"a": samples(1, 10, 100), "b": samples(3, 30, 300)})
    assert found == {"a": pytest.approx(0.5), "b": pytest.approx(1.5)}
