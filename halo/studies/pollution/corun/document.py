"""The document of `halo study corun`: programs that share a last-level cache."""

from __future__ import annotations

from msgspec import Struct

from halo.base.schema.values import Count, Number, Share

FORMAT, VERSION = "halo-corun", 1


class CorunProgram(Struct, frozen=True, kw_only=True):
    """A program, and its run alone with the whole last level for itself."""

    name: str  # as in the tables
    program: str  # its path
    arguments: tuple[str, ...]  # of the recorded run
    complete: bool  # false: it was cut at the limit of accesses
    accesses: Count  # of the recorded run
    cycles: Count  # modelled, all objects open
    requests: Count  # for lines of the last level
    misses: Count  # of them
    fetches: Count  # requests for lines that a private level has afterwards
    demands: Count  # accesses of the program that reached the last level
    confined_cycles: Count  # modelled, all objects confined
    rate: Number  # fetches in 1000 cycles
    slowdown: float  # confined cycles over open ones, minus 1; negative: faster
    category: str  # `polluter`, `victim` or `neutral` (docs/corun.md)
    exact: Share  # of the requests for objects, those to objects that are confined by `exact`
    online: Share  # likewise by `online`, which is open until it knows the context
    predicted: Share  # likewise by `predicted`
    learnt: Share  # likewise by `learnt`


class MixedProgram(Struct, frozen=True, kw_only=True):
    """A program of a mix, with one kind of classes."""

    name: str  # of a program above
    role: str  # `polluter`, `victim` or `neutral`; empty: not known
    speedups: tuple[Number, ...]  # by seed: cycles with all open over these, to the first end
    cycles: tuple[Count, ...]  # by seed
    misses: tuple[Count, ...]  # by seed, of its requests to its first end
    requests: Count  # to its first end
    runs: tuple[Count, ...]  # by seed: how often it ended


class Mix(Struct, frozen=True, kw_only=True):
    """Programs on one last level, with one kind of classes."""

    name: str  # of the mix
    kind: str  # such as `polluter-victim`
    classes: str  # one of those of docs/corun.md, such as `exact`
    programs: tuple[MixedProgram, ...]  # two to eight; one of kind `alone`


class CorunDocument(Struct, frozen=True, kw_only=True):
    """The output of `halo study corun --json`."""

    format: str = FORMAT  # `halo-corun`
    version: int = VERSION  # 1
    machine: str  # as given
    colours: Count  # of the last level
    first: Count  # colour of the restricted range
    last: Count  # colour of the restricted range
    programs: tuple[CorunProgram, ...]  # alone
    mixes: tuple[Mix, ...]  # by mix, then by classes
