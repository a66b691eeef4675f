"""Small results of `bench/studies/tidy_sweep.py`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from halo.studies.hints.sweep_document import SweepDocument, SweptTraversal


def swept(size: int, cycles: int, *seconds: float) -> SweptTraversal:
    misses = {"L1D": cycles * 5, "L3": 3, "DTLB": cycles // 4}
    return SweptTraversal(size=size, cycles=cycles, misses=misses, seconds=seconds)


def sweep_result(path: Path, rounds: int = 1) -> Path:
    """The default has 1.2 times the cycles of the best bucket, and the time of the best of all."""

    def one(size: int, cycles: int) -> SweptTraversal:
        return swept(size, cycles, *([max(cycles, 600) / 1000] * rounds))

    document = SweepDocument(
        program="mesh",
        machine="miucin",
        processor="Some Processor" if rounds else "",
        simulated=("60", "1"),
        timed=("600", "2"),
        plain=one(0, 1000),
        ignored=one(0, 900),
        default=one(0, 600),
        buckets=(one(64, 800), one(1024, 500)),
        cells=(one(16, 900), one(256, 590)),
    )
    path.write_bytes(msgspec.json.encode(document))
    return path
