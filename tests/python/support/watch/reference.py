"""The watch of `src/studies/pollution/monitor`, slow and plain: it goes through everything."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

MASK = (1 << 64) - 1
NORMAL, POLLUTER = "normal", "polluter"


@dataclass
class Settings:
    """As `Parameters` of `src/studies/pollution/monitor/parameters.h`, which has the units."""

    open: int = 131072
    restrict: int = 16384
    rounds: int = 8
    round_bytes: int = 16 << 10
    bursts: int = 16
    min: int = 65
    always: int = 1 << 20
    interval: int = 1024
    pending: int = 8
    stale: int = 30_000_000
    pause: int = 100_000
    period: int = 5_000_000
    timeout: int = 3_000_000
    objects: int = 512
    pages: int = 4096
    contexts: int = 16
    origin_first: int = 0
    seed: int = 1

    def arguments(self) -> list[str]:
        """Those of `halo-watch-replay`."""
        return [f"--{name.replace('_', '-')}={value}" for name, value in vars(self).items()]


@dataclass
class Context:
    types: list[str] = field(default_factory=list)  # of watched objects, the newest last
    forgotten: int = 0  # of `types`, from the start
    interval: int = 0
    left: int = 0
    pending: int = 0  # watched objects without a type
    bytes: int | None = None
    watched: int = 0

    def known(self) -> list[str]:
        return self.types[self.forgotten :][-2:]

    def pollutes(self) -> bool:
        return self.known() == [POLLUTER, POLLUTER]


@dataclass
class Sample:
    page: int
    state: str
    due: int = 0
    accesses: int = 0
    misses: int = 0
    bursts: int = 0

    @property
    def armed(self) -> bool:
        return self.state in ("first", "second")


@dataclass
class Object:
    address: int
    bytes: int
    context: int
    pages: range
    confined: bool
    predicted: bool
    learnt: bool = False
    disagreements: int = 0
    rounds: list[list[bool]] = field(default_factory=lambda: [[]])
    done: int = 0
    samples: list[Sample] = field(default_factory=list)
    due: int | None = None

    def rate(self, rounds: list[list[bool]]) -> float:
        found = [miss for one in rounds for miss in one]
        return sum(found) / len(found) if found else 0.0

    def found(self) -> tuple[int, int]:
        every = [miss for one in self.rounds for miss in one]
        return len(every) - sum(every), sum(every)


class Watch:
    """Takes events, and returns the lines of `halo-watch-replay`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.state = settings.seed
        self.contexts = [Context() for _ in range(settings.contexts)]
        self.slots: list[Object | None] = [None] * settings.objects
        self.free_slots = list(range(settings.objects))  # the first is the next one to be used
        self.sample_slots: list[Sample | None] = [None] * settings.pages
        self.free_samples = list(range(settings.pages))
        self.score = [0, 0]
        self.lines: list[str] = []

    def feed(self, line: str) -> None:
        kind, *words = line.split()
        *numbers, us, accesses, misses = map(int, words)
        now = (us, accesses, misses)
        if kind == "a":
            confined = self.allocated(numbers, now)
            self.lines.append("restrictive" if confined else "open")
        elif kind == "f":
            self.freed(numbers[0], now)
        elif kind == "r":
            self.referenced(numbers[0], now)
        else:
            self.passed(now)

    def end(self) -> list[str]:
        return [*self.lines, f"score {self.score[0]} {self.score[1]}"]

    # Contexts.

    def chooses(self, number: int, size: int, us: int) -> bool:
        settings = self.settings
        if number >= len(self.contexts) or size < settings.min:
            return False
        context = self.contexts[number]
        if context.pending >= settings.pending and size < settings.always:
            return False
        other = context.bytes is not None and context.bytes != size
        stale = us - context.watched >= settings.stale
        if context.left and size < settings.always and not other and not stale:
            context.left -= 1
            return False
        if other:
            context.forgotten = max(context.forgotten, len(context.types) - 1)
            context.interval = 0
        context.bytes, context.watched, context.left = size, us, context.interval
        return True

    def learn(self, item: Object, kind: str) -> None:
        if item.learnt:
            return
        item.learnt = True
        context = self.contexts[item.context]
        context.pending -= 1
        if len(context.known()) == 2:
            confirmed = item.predicted == (kind == POLLUTER)
            self.score[not confirmed] += 1
            longer = min(max(1, 2 * context.interval), self.settings.interval)
            context.interval = context.left = longer if confirmed else 0
        context.types.append(kind)

    # Objects.

    def allocated(self, event: list[int], now: tuple[int, int, int]) -> bool:
        address, size, number, first, pages = event
        self.freed(address, now)
        confined = number < len(self.contexts) and self.contexts[number].pollutes()
        if not self.chooses(number, size, now[0]):
            return confined
        if not self.free_slots or len(self.free_samples) < self.wanted(pages):
            return confined
        slot = self.free_slots.pop(0)
        area = range(first, first + pages)
        self.contexts[number].pending += 1
        self.slots[slot] = Object(address, size, number, area, confined, confined)
        self.begin_phase(slot, now)
        return confined

    def freed(self, address: int, now: tuple[int, int, int]) -> None:
        for slot, item in enumerate(self.slots):
            if item is None or item.address != address:
                continue
            self.count_waiting(item, item.bytes >= self.settings.open * 64, now)
            if item.samples:
                self.judge(item)
            self.learn(item, self.kind(item))
            self.forget(slot)

    def count_waiting(self, item: Object, large: bool, now: tuple[int, int, int]) -> None:
        for sample in item.samples:
            gone = now[2] - sample.misses >= self.settings.open
            if sample.state == "second" and (large or gone):
                item.rounds[-1].append(True)

    def forget(self, slot: int) -> None:
        item = self.item(slot)
        self.contexts[item.context].pending -= not item.learnt
        self.drop(item)
        self.slots[slot] = None
        self.free_slots.insert(0, slot)

    def judge(self, item: Object) -> None:
        hits, misses = item.found()
        self.lines.append(f"judge {item.address} {item.context} {hits} {misses}")

    def kind(self, item: Object) -> str:
        hits, misses = item.found()
        return POLLUTER if misses and misses >= 0.9 * (hits + misses) else NORMAL

    def item(self, slot: int) -> Object:
        item = self.slots[slot]
        assert item is not None
        return item

    # Phases.

    def wanted(self, pages: int) -> int:
        return min(pages, max(1, math.ceil(pages**0.65 - 1e-9))) if pages else 0

    def random(self, bound: int) -> int:
        """Below the bound, by splitmix64."""
        self.state = mixed = (self.state + 0x9E3779B97F4A7C15) & MASK
        mixed = ((mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & MASK
        return (mixed ^ mixed >> 31) * bound >> 64

    def begin_phase(self, slot: int, now: tuple[int, int, int]) -> None:
        item = self.item(slot)
        item.rounds, item.done, item.due = [[]], 0, None
        pages = len(item.pages)
        count = min(self.wanted(pages), len(self.free_samples))
        taken = {one.page for one in self.sample_slots if one is not None}
        for part in range(count):
            first, end = pages * part // count, pages * (part + 1) // count
            page = item.pages[first + self.random(end - first)]
            if page in taken:
                continue
            sample = Sample(page, "first")
            self.sample_slots[self.free_samples.pop(0)] = sample
            item.samples.insert(0, sample)
            self.lines.append(f"arm {page}")
        if item.samples:
            item.due = now[0] + self.settings.timeout
        elif item.learnt:
            item.due = now[0] + self.settings.period
        else:
            self.forget(slot)

    def drop(self, item: Object) -> None:
        for sample in item.samples:
            if sample.armed:
                self.lines.append(f"disarm {sample.page}")
            at = self.sample_slots.index(sample)
            self.sample_slots[at] = None
            self.free_samples.insert(0, at)
        item.samples = []

    def end_round(self, slot: int, now: tuple[int, int, int]) -> None:
        item = self.item(slot)
        least = 2 + (item.bytes // self.settings.round_bytes).bit_length()
        change = abs(item.rate(item.rounds[-1:]) - item.rate(item.rounds[:-1]))
        many = len(item.rounds) >= self.settings.rounds
        if many or (len(item.rounds) >= least and change <= 0.1):
            self.end_phase(slot, now)
        else:
            item.rounds.append([])
            item.done = 0

    def end_phase(self, slot: int, now: tuple[int, int, int]) -> None:
        item = self.item(slot)
        target = self.kind(item) == POLLUTER
        self.judge(item)
        self.learn(item, self.kind(item))
        self.drop(item)
        item.disagreements = 0 if target == item.confined else item.disagreements + 1
        if item.disagreements == 2:
            item.confined, item.disagreements = target, 0
            self.lines.append(f"move {item.address} {'restrictive' if target else 'open'}")
        if not item.confined and not target:
            self.forget(slot)
        else:
            item.due = now[0] + self.settings.period

    # Samples.

    def referenced(self, page: int, now: tuple[int, int, int]) -> None:
        for slot, item in enumerate(self.slots):
            for sample in item.samples if item is not None else ():
                if sample.page != page:
                    continue
                if sample.state == "first":
                    sample.bursts = 0
                    self.open_window(sample, now)
                elif sample.state == "second":
                    self.second(slot, sample, now)
                return

    def open_window(self, sample: Sample, now: tuple[int, int, int]) -> None:
        sample.state, sample.due = "window", now[1] + self.settings.restrict
        _, sample.accesses, sample.misses = now

    def second(self, slot: int, sample: Sample, now: tuple[int, int, int]) -> None:
        if now[1] - sample.accesses < self.settings.restrict:
            sample.bursts += 1
            if sample.bursts < self.settings.bursts:
                self.open_window(sample, now)
                return
        else:
            miss = now[2] - sample.misses > self.settings.open
            self.lines.append(f"{'miss' if miss else 'hit'} {sample.page}")
            self.item(slot).rounds[-1].append(miss)
        sample.state, sample.due = "pause", now[0] + self.settings.pause
        item = self.item(slot)
        item.done += 1
        if item.done == len(item.samples):
            self.end_round(slot, now)

    def due(self, state: str, limit: int) -> Sample | None:
        """The sample in that state with the earliest deadline up to the limit."""
        found = [
            (one.due, at)
            for at, one in enumerate(self.sample_slots)
            if one is not None and one.state == state and one.due <= limit
        ]
        return self.sample_slots[min(found)[1]] if found else None

    def passed(self, now: tuple[int, int, int]) -> None:
        us, accesses, misses = now
        while (sample := self.due("window", accesses)) is not None:
            sample.state, sample.accesses = "second", accesses
            if not self.settings.origin_first:
                sample.misses = misses
            self.lines.append(f"arm {sample.page}")
        while (sample := self.due("pause", us)) is not None:
            sample.state = "first"
            self.lines.append(f"arm {sample.page}")
        while found := [
            (item.due, slot)
            for slot, item in enumerate(self.slots)
            if item is not None and item.due is not None and item.due <= us
        ]:
            slot = min(found)[1]
            if not self.item(slot).samples:
                self.begin_phase(slot, now)
                continue
            self.count_waiting(self.item(slot), False, now)
            if any(self.item(slot).rounds):
                self.end_phase(slot, now)
            else:
                self.forget(slot)
