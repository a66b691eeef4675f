"""Runs programs alone and in mixes."""

from __future__ import annotations

from dataclasses import dataclass

from halo.studies.pollution.corun.categories import describe
from halo.studies.pollution.corun.document import CorunDocument, Mix
from halo.studies.pollution.corun.members import Member, PlannedMix
from halo.studies.pollution.corun.speedups import OPEN, mixes_of
from halo.studies.pollution.corun.streams import StreamMaker
from halo.studies.pollution.corun.tools import Mixed, Tools

CONFINED = "confined"


@dataclass(frozen=True)
class Plan:
    """What to run: `members` alone, and `mixes` with each of the `classes` and seeds."""

    machine: str
    members: tuple[Member, ...]
    mixes: tuple[PlannedMix, ...]
    classes: tuple[str, ...]
    seeds: int


class MixRunner:
    """Makes the streams that are needed, and mixes them."""

    def __init__(self, tools: Tools, maker: StreamMaker) -> None:
        self._tools, self._maker = tools, maker

    def run(self, plan: Plan) -> CorunDocument:
        """The document of a whole plan, which has a member."""
        alone = [self._alone(member) for member in plan.members]
        mixes: list[Mix] = []
        for planned in plan.mixes:
            streams = [self._maker.make(member) for member in planned.members]
            classes = list(dict.fromkeys([OPEN, *plan.classes]))
            mixes += mixes_of(planned, self._tools.mix(streams, classes, plan.seeds))
        return CorunDocument(
            machine=plan.machine,
            colours=alone[0].colours,
            first=alone[0].first,
            last=alone[0].last,
            programs=tuple(map(describe, plan.members, alone)),
            mixes=tuple(mixes),
        )

    def _alone(self, member: Member) -> Mixed:
        # One seed: with all open, or all confined, another order of the colours changes little.
        return self._tools.mix([self._maker.make(member)], [OPEN, CONFINED], 1)
