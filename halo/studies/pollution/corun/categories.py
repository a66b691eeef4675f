"""Polluters, victims and neutral programs (NightWatch, table 1)."""

from __future__ import annotations

from halo.studies.pollution.corun.document import CorunProgram
from halo.studies.pollution.corun.members import Member
from halo.studies.pollution.corun.tools import Mixed

POLLUTER, VICTIM, NEUTRAL = "polluter", "victim", "neutral"
MAX_POLLUTER_SLOWDOWN = 0.1
MIN_VICTIM_SLOWDOWN = 0.2
MIN_POLLUTER_RATE = 5.0  # fetches in 1000 cycles


def category(slowdown: float, rate: float) -> str:
    """By the slowdown if all objects are confined, and the accesses of the last level.

    `rate` is of lines that the private levels fetch, in 1000 cycles of the open run. What is
    neither polluter nor victim is neutral.
    """
    if slowdown > MIN_VICTIM_SLOWDOWN:
        return VICTIM
    polluter = slowdown < MAX_POLLUTER_SLOWDOWN and rate > MIN_POLLUTER_RATE
    return POLLUTER if polluter else NEUTRAL


def describe(member: Member, mixed: Mixed) -> CorunProgram:
    """A program alone; `mixed` has a run with all objects open, then one with all confined."""
    facts = mixed.programs[0]
    open_run, confined = (run.programs[0] for run in mixed.runs)
    rate = 1000 * open_run.fetches / open_run.cycles
    slowdown = confined.cycles / open_run.cycles - 1
    objects = max(facts.of_objects, 1)
    return CorunProgram(
        name=member.name,
        program=str(member.target.path),
        arguments=member.arguments,
        complete=facts.complete,
        accesses=facts.accesses,
        cycles=open_run.cycles,
        requests=open_run.accesses,
        misses=open_run.misses,
        fetches=open_run.fetches,
        demands=open_run.demands,
        confined_cycles=confined.cycles,
        rate=rate,
        slowdown=slowdown,
        category=category(slowdown, rate),
        exact=facts.exact / objects,
        online=facts.online / objects,
        predicted=facts.predicted / objects,
        learnt=facts.learnt / objects,
    )
