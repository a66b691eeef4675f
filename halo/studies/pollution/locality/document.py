"""The document of `halo study locality`: which objects and contexts miss the last-level cache."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from halo.base.schema.values import Count, Number, Positive, Share

FORMAT, VERSION = "halo-locality", 1

Tenths = Annotated[tuple[Count, ...], Meta(min_length=10, max_length=10)]
Hundredths = Annotated[tuple[Count, ...], Meta(min_length=100, max_length=100)]


class ContextLocality(Struct, frozen=True, kw_only=True):
    """An allocation context. Accesses and misses are those of the last-level cache."""

    name: str = ""  # its functions, if they are known
    objects: Count  # allocations
    bytes: Count  # of all its objects
    peak_bytes: Count  # the most that were live
    accesses: Count  # to its objects
    misses: Count  # of them
    rated: Count  # objects with at least eight accesses, which have a miss rate
    variance: Share  # of their miss rates
    pages: Count  # of its objects with several pages, those with a miss rate
    near_pages: Count  # those whose rate differs by at most 0.1 from that of their object
    lines_of_visit: Number  # lines of a page that are accessed in a visit, on average


class SampledObjects(Struct, frozen=True, kw_only=True):
    """Objects with a number of pages from one power of two to the next (section 6.3)."""

    objects: Count  # with a miss rate
    pages: Count  # of all of them
    within: Count  # those whose miss rate in pages to the power of 0.65 sampled pages errs by 0.05
    needed: Count  # sum of the least numbers of sampled pages that err by 0.05


class WatchCounts(Struct, frozen=True, kw_only=True):
    """What a watch did, and how its judgements compare with exact stack distances."""

    watched: Count  # objects
    skipped: Count  # objects that were chosen, for which there was no room
    hits: Count  # judgements, also of pages that wait when their object is freed
    misses: Count  # likewise
    bursts: Count  # pairs of references that are too close together to be judged
    dropped: Count  # samples without a judgement
    expired: Count  # phases that ended for lack of references
    moves: Count  # of objects to the other mapping
    samples: Count  # judgements of pairs of references
    false_hits: Count  # of them, hits whose distance is more than the cache
    false_misses: Count  # misses whose distance is at most the cache


class RandomPages(Struct, frozen=True, kw_only=True):
    """Pages of randomly drawn accesses, judged by three clocks (figure 10)."""

    counters: WatchCounts  # the cache's counters
    first: WatchCounts  # likewise, with misses from the first reference on: a control
    pages: WatchCounts  # traps of a sample of pages, without counters
    traps: Count  # of that sample


class Locality(Struct, frozen=True, kw_only=True):
    """What `halo-locality` writes."""

    complete: bool  # whether the trace reaches the end of the process
    seconds: Positive  # that the program counts as, for the watch's times
    cache_bytes: Count  # of the last level
    accesses: Count  # of the last level
    misses: Count  # of the last level
    cycles: Count  # modelled cycles of the program
    objects: Tenths  # objects by their miss rate, in tenths
    page_differences: Hundredths  # pages by the difference to the rate of their object
    pages: Count  # those pages: of objects with several, with at least eight accesses
    near_pages: Count  # those that differ by at most 0.1
    sure_pages: Count  # pages with at least 100 accesses
    near_sure_pages: Count  # those of them that differ by at most 0.1
    contexts: tuple[ContextLocality, ...]  # by their number in the trace
    sampling: tuple[SampledObjects, ...]  # from 2^i pages on
    sampled: WatchCounts  # the watch
    every: WatchCounts  # a watch of every object
    random: RandomPages | None = None  # with --draws
    predicted: Count  # objects whose context had one before
    right: Count  # those whose mapping is what the watch of every object found
    polluters: Count  # predicted objects that it found to pollute
    known: Count  # predicted objects whose context had two objects of a known type
    known_right: Count  # those of them with the right mapping
    learnt_right: Count  # predicted objects for which the classes of the run's end are right


class LocalityDocument(Struct, frozen=True, kw_only=True):
    """The output of `halo study locality --json`."""

    format: str = FORMAT  # `halo-locality`
    version: int = VERSION  # 1
    program: str  # its path; empty for a stored trace
    arguments: tuple[str, ...]  # of the recorded run
    machine: str  # the name or the file given as --machine; empty: that on which halo ran
    locality: Locality  # what was found
    pollution: Share  # share of the misses that polluting contexts have
    verdict: str  # one of those in watch.md
