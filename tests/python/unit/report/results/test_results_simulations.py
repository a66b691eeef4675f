"""Results of `halo study eval simulate` are read if they tell the heap from all other memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import BadInput
from halo.report.results.simulations import read_heap_simulations
from support.samples.simulations import heap, save, simulated


def test_runs_are_read_in_order(tmp_path: Path) -> None:
    paths = [save(tmp_path, simulated(name)) for name in ("b", "a")]
    runs = read_heap_simulations(paths)
    assert [run.program for run in runs] == ["b", "a"]
    assert runs[0].heap.final_live_bytes == 1000


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"heap": None}, "does not say how the heap was used; simulate the program without a plan"),
        ({"heap": heap(larger=7)}, r"counts 7 large objects as outside.* --max-object 268435455\."),
        ({"heap": {}}, "is damaged: heap.allocations is missing"),
        ({"misses": {"L1D": -1}}, "is damaged: misses.L1D"),
        ({"misses": {}}, "is damaged: it has no misses of L1D"),
        ({"format": "halo-results"}, "is not a result of halo study eval simulate"),
        ({"version": 3}, "has version 3, this halo reads up to 2"),
    ],
)
def test_others_are_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    path = save(tmp_path, simulated(**changes))
    with pytest.raises(BadInput, match=words):
        read_heap_simulations([path])


def test_results_belong_to_one_machine_and_to_different_programs(tmp_path: Path) -> None:
    one = save(tmp_path, simulated("one"))
    other = simulated("other")
    other["machine"]["page"] = 4096
    with pytest.raises(BadInput, match="are of different simulated machines"):
        read_heap_simulations([one, save(tmp_path, other)])
    with pytest.raises(BadInput, match="are both of the program one"):
        read_heap_simulations([one, one])
