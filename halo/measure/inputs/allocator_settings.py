"""Tries the settings of the fastest allocators, after these were timed.

A setting is measured in the same rounds as its allocator without it. After half of the rounds,
those that lose clearly leave. It stays in the field if it is faster there; whether it is kept is
decided by the race, whose rounds are others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from statistics import median

from halo.base.schema.trial import Trial
from halo.binary.process.allocator_settings import (
    Needs,
    Setting,
    has_huge_pages,
    known_settings,
    unknown_settings,
)
from halo.binary.process.allocators import Allocator
from halo.measure.racing.clock import deciding_clock, processor
from halo.measure.racing.gains import gain_of
from halo.measure.racing.race import CLEAR
from halo.measure.racing.sequential import SINGLE_LOOK, Gain
from halo.measure.runs.job import Job
from halo.measure.runs.rounds import Span, relative_times
from halo.measure.session import Session
from halo.measure.stages import Rounds, measure

NEAR = 1.10  # maximum time, over the fastest allocator's, of allocators whose settings are tried
HOPELESS = 0.95  # times as fast as without the setting, after half of the rounds
PROMISING = 1.01  # times as fast as without the setting, in each of the rounds or certainly
ALONE = 0.9  # share of the processor time that is the main thread's, of a program with one thread


def time_settings(session: Session, job: Job) -> None:
    """Times the settings that may matter to the job; `Findings.settings` has the rounds."""
    findings = session.findings
    near = _near(session)
    tried = [it for allocator in near for it in _settings_of(session, allocator)]
    if not tried:
        return
    plain = _plain_of(tried, near)
    rounds = len(next(iter(findings.training.values())))
    usual = median(processor(trial) for of_one in findings.training.values() for trial in of_one)
    runs = rounds * (len(plain) + len(tried))
    session.reporter.stage(
        f"trying {len(tried)} setting{'s' * (len(tried) > 1)} of {_names(plain)}",
        runs * usual,
        is_extra=True,
    )

    def run(stage: str, allocators: Sequence[Allocator], rounds: int, span: Span) -> None:
        configs = [
            replace(session.alone(it), needs_cooldown=False)  # as in the screen of the race
            for it in allocators
        ]
        found = measure(session, stage, job, configs, Rounds(rounds, 0, span))
        for config in configs:
            if config.label in found:
                findings.settings.setdefault(config.label, []).extend(found[config.label])
            else:  # it failed now
                findings.settings.pop(config.label, None)

    first = math.ceil(rounds / 2)
    done = first * (len(plain) + len(tried))
    run("settings", [*plain, *tried], first, Span(0, runs))
    known = [it for it in tried if findings.settings.get(it.name)]
    hopeful = [it for it in known if _gain(session, it).mean > math.log(HOPELESS)]
    if hopeful and first < rounds:
        stay = [*_plain_of(hopeful, near), *hopeful]
        left = (rounds - first) * len(stay)
        run("hopeful-settings", stay, rounds - first, Span(done, done + left))
    session.settings_tried = [it for it in tried if _gain(session, it).rounds]


def ranked(session: Session) -> list[tuple[Allocator, float]]:
    """Each allocator that runs the program, and each promising setting, with its relative time.

    The fastest is first. A setting is promising if it gains in every round, or certainly by the
    test of the race: the effect of some is another in each round, and must not decide over which
    allocator plans are made.
    """
    times = _relative(session)
    found = [(it, times[it.name]) for it in session.allocators if it.name in times]
    found += [(it, time) for it, time, is_promising in _settings(session, times) if is_promising]
    return sorted(found, key=lambda each: each[1])


def doubtful(session: Session) -> list[Allocator]:
    """The settings that are not promising, but faster than all others by their medians.

    They take part in the race, which tells what they gain.
    """
    best = ranked(session)[0][1]
    times = _relative(session)
    found = [(it, time) for it, time, is_promising in _settings(session, times) if not is_promising]
    return [it for it, time in sorted(found, key=lambda each: each[1]) if time * PROMISING < best]


def _settings(
    session: Session, times: Mapping[str, float]
) -> Iterator[tuple[Allocator, float, bool]]:
    """Each setting that was tried, its relative time, and whether it is promising."""
    for one in session.settings_tried:
        plain = one.name.rpartition(":")[0]
        gain = _gain(session, one)
        clear = CLEAR if gain.rounds == 1 else PROMISING
        every = min(gain.logs) > math.log(clear)
        usual = times[plain] / math.exp(median(gain.logs))
        yield one, usual, every or gain.exceeds(PROMISING, SINGLE_LOOK)


def _gain(session: Session, one: Allocator) -> Gain:
    """How many times as fast the setting is, in the rounds of both."""
    return gain_of(session.findings.settings, one.name, one.name.rpartition(":")[0])


def _relative(session: Session) -> Mapping[str, float]:
    """The relative times of the allocators by the deciding clock."""
    trials = session.findings.training
    return relative_times(trials, deciding_clock(chain.from_iterable(trials.values())))


def _near(session: Session) -> list[Allocator]:
    times = _relative(session)
    best = min(times.values())
    return [it for it in session.allocators if times.get(it.name, 2 * best * NEAR) <= NEAR * best]


def _settings_of(session: Session, allocator: Allocator) -> Iterator[Allocator]:
    """The allocator with each setting to try; `Findings.untried` has the others that are due."""
    library, untried = allocator.own or allocator.library, session.findings.untried
    for setting in unknown_settings(library):
        session.reporter.tell(f"this version of {allocator.name} does not know {setting.name}")
        if _is_due(session, setting):
            untried[allocator.under(setting).name] = (
                f"this version of {allocator.name} does not know it"
            )
    for setting in known_settings(library):
        if not _is_due(session, setting):
            continue
        if session.options.environment.get(setting.variable):
            session.remark(
                f"{setting.variable} is set, so {allocator.name} keeps it and has no other setting."
            )
            untried[allocator.under(setting).name] = f"{setting.variable} is set"
            continue
        yield allocator.under(setting)


def _is_due(session: Session, setting: Setting) -> bool:
    if setting.needs is Needs.HUGE_PAGES:
        return has_huge_pages()
    trials = [it for of_one in session.findings.training.values() for it in of_one]
    return any(_has_threads(trial) for trial in trials)


def _has_threads(trial: Trial) -> bool:
    return 0 < trial.main_processor < ALONE * (trial.user + trial.system)


def _plain_of(settings: Sequence[Allocator], allocators: Sequence[Allocator]) -> list[Allocator]:
    """Those of the allocators whose settings these are."""
    names = {it.name.rpartition(":")[0] for it in settings}
    return [it for it in allocators if it.name in names]


def _names(allocators: Sequence[Allocator]) -> str:
    names = [allocator.name for allocator in allocators]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
