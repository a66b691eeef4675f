"""The document of `bench/studies/tidy_sweep.py`: a traversal by size of buckets and by cells."""

from __future__ import annotations

from msgspec import Struct

from halo.base.schema.simulation import Misses
from halo.base.schema.values import Count, Number

FORMAT, VERSION = "halo-sweep", 1


class SweptTraversal(Struct, frozen=True, kw_only=True):
    """The traversal of a program, with its objects placed in one way."""

    size: Count  # bytes of a bucket, or number of cells; 0: as the library has them
    cycles: Count  # modelled cost of the misses
    misses: Misses  # accesses that missed, by level
    seconds: tuple[Number, ...] = ()  # processor time of each timed round


class SweepDocument(Struct, frozen=True, kw_only=True):
    """What `bench/studies/tidy_sweep.py` keeps of a program."""

    format: str = FORMAT  # `halo-sweep`
    version: int = VERSION  # 1
    program: str  # its name
    machine: str  # that was simulated, by the name of its file
    processor: str = ""  # of the timed runs; empty: there are none
    simulated: tuple[str, ...]  # arguments of the simulated run
    timed: tuple[str, ...]  # arguments of the timed runs
    plain: SweptTraversal  # objects from malloc of the C library
    ignored: SweptTraversal  # in Tidy's memory, with hints ignored
    default: SweptTraversal  # by Tidy, as the library is
    buckets: tuple[SweptTraversal, ...]  # with other buckets, ascending
    cells: tuple[SweptTraversal, ...]  # with a fixed grid, ascending
