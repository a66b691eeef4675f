"""The whole field: each configuration of a measurement, as many times as fast as today's.

A ratio is of rounds that both configurations had. So an allocator is compared with today's, a
setting with its allocator without it, and a plan with its allocator alone. The product of these
ratios is the position. The answer compares all of its configurations with today's, in rounds of its
own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from statistics import median

from halo.base.schema.trial import Trial, Trials
from halo.measure.candidates import NONE
from halo.measure.placement import Answer
from halo.measure.racing.gains import HALO, gain_of, peak_memory
from halo.measure.racing.sequential import EARLY_LOOK, TWO_SIDED, Gain
from halo.measure.statistics import summarize
from halo.report.results import Measurement
from halo.report.results.metrics import clock_of, fastest_allocator


class ConfigurationKind(StrEnum):
    """What a configuration changes."""

    ALLOCATOR = "allocator"
    SETTING = "setting"
    PLAN = "plan"


@dataclass(frozen=True)
class Speed:
    """How many times as fast as today's, and the median peak memory in bytes.

    `low` and `high`: of the answer the interval of its test, else the quartiles of the rounds.
    """

    value: float
    low: float
    high: float
    memory: float


@dataclass(frozen=True)
class Entry:
    """A configuration of the field.

    `raced` is of the rounds that chose, and `answered` of the answer with its median `seconds`.
    `over` is what it was compared with in the former, and `gain` that ratio. `rounds` sort it: rows
    with the same ones ran together. `reach` says how far it got.
    """

    name: str
    kind: ConfigurationKind
    over: str
    raced: Speed | None = None
    answered: Speed | None = None
    seconds: float = 0.0
    gain: float | None = None
    rounds: tuple[int, int] = (0, 0)
    reach: str = ""
    kept: bool = False
    used: bool = False


@dataclass(frozen=True)
class ConfigurationGroup:
    """Entries that are compared with each other; `over`: the next allocator of plans."""

    title: str
    entries: Sequence[Entry]
    over: str = ""


def groups(measurement: Measurement) -> list[ConfigurationGroup]:
    """Allocators, settings, and the plans over each allocator; the furthest and fastest first."""
    entries = _Comparison(measurement).entries()
    of_kind = {kind: [it for it in entries if it.kind is kind] for kind in ConfigurationKind}
    found = [
        ConfigurationGroup("Allocators", of_kind[ConfigurationKind.ALLOCATOR]),
        ConfigurationGroup("Settings of allocators", of_kind[ConfigurationKind.SETTING]),
    ]
    for over in dict.fromkeys(it.over for it in of_kind[ConfigurationKind.PLAN]):
        mine = [it for it in of_kind[ConfigurationKind.PLAN] if it.over == over]
        found.append(ConfigurationGroup(f"Plans over {over}", mine, over))
    return [group for group in found if group.entries]


def today(measurement: Measurement) -> str:
    """The program's own allocator; without trials of it, the fastest."""
    native = measurement.summary.native
    return native if measurement.reference.get(native) else fastest_allocator(measurement)


class _Comparison:
    """Finds the entries of one measurement."""

    def __init__(self, measurement: Measurement) -> None:
        self.measurement = measurement
        self.today = today(measurement)
        trials = measurement.results.trials
        self.first = trials.allocators_on_training
        self.settings = trials.settings_on_training
        self.screen = self._by_name(trials.candidates_on_training)
        self.final = self._by_name(trials.finalists_on_training)

    def entries(self) -> list[Entry]:
        names = [*self.first, *self.settings, *self.measurement.allocators]
        found = [*map(self._allocator, dict.fromkeys(names)), *map(self._plan, self._plans)]
        ran = [entry for entry in found if entry.reach or entry.answered]
        return sorted(ran, key=_furthest_and_fastest)

    def _by_name(self, race: Trials) -> Trials:
        """The trials of a race, those of an allocator alone by its name."""
        alone = {
            it.label: it.allocator or it.label.partition(" over ")[2]
            for it in self.measurement.summary.candidates
            if it.strategy == NONE
        }
        return {alone.get(label, label): trials for label, trials in race.items()}

    @cached_property
    def _plans(self) -> Mapping[tuple[str, str], str]:
        """The label in the answer, or nothing, by the name of each plan and its allocator."""
        found = {
            (it.label.removesuffix(f" over {it.allocator}"), it.allocator): ""
            for it in self.measurement.summary.candidates
            if it.strategy != NONE
        }
        kept = self.measurement.kept
        if kept is not None and kept.strategy != NONE:
            found[kept.candidate, kept.allocator] = HALO
        for label, it in self.measurement.configurations.items():
            if it.strategy != NONE and label in self.measurement.reference:
                found[it.candidate, it.allocator] = label
        return found

    def _before(self, name: str) -> tuple[Trials, str]:
        """Of an allocator, with its setting: its rounds before the race, and what it changes."""
        plain = name.rpartition(":")[0]
        return (self.settings, plain) if plain else (self.first, self.today)

    def _allocator(self, name: str) -> Entry:
        phase, other = self._before(name)
        is_setting, rounds = phase is self.settings, len(phase.get(name, ()))
        gain = gain_of(phase, name, other)
        kept = self.measurement.kept
        return Entry(
            name,
            ConfigurationKind.SETTING if is_setting else ConfigurationKind.ALLOCATOR,
            other,
            self._alone(name),
            self._answered(name),
            self._seconds(name),
            gain=math.exp(gain.mean) if is_setting and gain.rounds else None,
            rounds=(0, rounds),
            reach=self._reach_alone(name, rounds),
            kept=self.measurement.keeps_none and kept is not None and kept.allocator == name,
            used=self._used == name,
        )

    def _alone(self, name: str) -> Speed | None:
        """Of an allocator, with its setting, before the race."""
        phase, other = self._before(name)
        if name == self.today and phase.get(name):
            return Speed(1.0, 1.0, 1.0, peak_memory(phase[name]))
        return self._raced(phase, name, other)

    def _raced(self, phase: Trials, label: str, other: str) -> Speed | None:
        """Over another one in the rounds of both, times the position of that one."""
        beneath = None if other == self.today else self._alone(other)
        gain = gain_of(phase, label, other)
        if not gain.rounds or (beneath is None and other != self.today):
            return None
        return _spread(gain, beneath.value if beneath else 1.0, phase[label])

    def _plan(self, key: tuple[str, str]) -> Entry:
        name, over = key
        label = f"{name} over {over}"
        phase = self.final if label in self.final else self.screen
        gain = gain_of(phase, label, over)
        kept = self.measurement.kept
        is_kept = kept is not None and key == (kept.candidate, kept.allocator)
        of_answer = self._plans[key]
        return Entry(
            name,
            ConfigurationKind.PLAN,
            over,
            self._raced(phase, label, over),
            self._answered(of_answer),
            self._seconds(of_answer),
            gain=math.exp(gain.mean) if gain.rounds else None,
            rounds=(len(self.final.get(label, ())), len(self.screen.get(label, ()))),
            reach=self._reach(label, over),
            kept=is_kept,
            used=is_kept and self._used == HALO,
        )

    def _answered(self, label: str) -> Speed | None:
        trials = self.measurement.reference
        if not trials.get(label):
            return None
        if label == self.today:
            return Speed(1.0, 1.0, 1.0, peak_memory(trials[label]))
        gain = gain_of(trials, label, self.today)
        if gain.rounds < EARLY_LOOK:
            return _spread(gain, 1.0, trials[label])
        found = gain.interval(TWO_SIDED)
        return Speed(found.value, found.low, found.high, peak_memory(trials[label]))

    def _seconds(self, label: str) -> float:
        clock = clock_of(self.measurement)
        trials = self.measurement.reference.get(label)
        return median(map(clock, trials)) if trials else 0.0

    @cached_property
    def _used(self) -> str | None:
        """The label in the answer of what is to be used, if the answer tells it."""
        summary = self.measurement.summary
        if summary.verdict.answer in ("", Answer.CANNOT_TELL, Answer.ALLOCATORS_ONLY):
            return None
        helps = summary.verdict.answer == Answer.PLAN_HELPS
        return summary.use or (HALO if helps else None)

    def _reach_alone(self, name: str, rounds: int) -> str:
        """How far an allocator got, which runs alone to the end of the race."""
        raced = len(self.screen.get(name, ())) + len(self.final.get(name, ()))
        if not rounds:
            return ""
        if raced:
            return f"{_rounds(rounds)}, and {raced} of the race"
        is_out = bool(self.screen) and name != self.today
        return f"left after {_rounds(rounds)}" if is_out else _rounds(rounds)

    def _reach(self, label: str, over: str) -> str:
        """How far a plan got, whose allocator alone stays to the end."""
        for phase, name in ((self.final, "the final"), (self.screen, "the race")):
            mine, most = len(phase.get(label, ())), len(phase.get(over, ()))
            if mine:
                stayed = mine == most and (phase is self.final or not self.final)
                rounds = _rounds(mine)
                return f"{name}: {rounds}" if stayed else f"left {name} after {rounds}"
        return ""


def _spread(gain: Gain, factor: float, trials: Sequence[Trial]) -> Speed:
    """With the quartiles of the rounds, which include the value."""
    value = factor * math.exp(gain.mean)
    found = summarize([factor * math.exp(it) for it in gain.logs or (gain.mean,)])
    low, high = found.quartiles
    return Speed(value, min(low, value), max(high, value), peak_memory(trials))


def _furthest_and_fastest(entry: Entry) -> tuple[int, int, float]:
    """Positions are compared between entries that ran together."""
    speed = entry.raced or entry.answered
    return (-entry.rounds[0], -entry.rounds[1], -speed.value if speed else 0.0)


def _rounds(count: int) -> str:
    return f"{count} round{'s' * (count != 1)}"
