"""The header of a compact plan: its counts and what must hold of them."""

from __future__ import annotations

import zlib
from typing import NamedTuple

from halo.base.errors import BadPlan
from halo.plan.layout import (
    CHECKED_MODULE,
    CHECKED_VERSION,
    CONJUNCTION,
    GROUP,
    HEADER,
    HEADER_FLAGS,
    HEADER_SELECTORS,
    HINT_COUNTS,
    HINT_VERSION,
    MAGIC,
    MAX_CONJUNCTIONS,
    MAX_GROUPS,
    MAX_MODULES,
    MAX_OBJECT_LIMIT,
    MAX_RELAXATIONS,
    MAX_SITES,
    MAX_STATES,
    MODULE,
    OLD_HEADER_FLAGS,
    OLDEST_VERSION,
    RELAXATION,
    SELECTOR_VERSION,
    SITE,
    STATE,
    VERSION,
)


class Head(NamedTuple):
    """The header of a complete plan file: counts of records, and settings."""

    version: int
    modules: int
    groups: int
    states: int
    max_object: int
    flags: int
    executable: int
    sites: int
    conjunctions: int
    checked: int
    relaxations: int

    @property
    def selects(self) -> bool:
        """Whether selectors identify groups."""
        return self.version == SELECTOR_VERSION or bool(self.flags & HEADER_SELECTORS)

    @property
    def body_size(self) -> int:
        return (
            self.modules * MODULE.size
            + self.groups * GROUP.size
            + self.states * STATE.size
            + self.sites * SITE.size
            + self.conjunctions * CONJUNCTION.size
            + self.checked * CHECKED_MODULE.size
            + self.relaxations * RELAXATION.size
        )


def crc_of(content: bytes) -> int:
    """The checksum in the header of an encoded plan."""
    return int(HEADER.unpack_from(content)[2])


def checked_header(content: bytes, name: str) -> Head:
    if not content:
        raise BadPlan(f"{name} is empty; plan again.")
    if content[: len(MAGIC)] != MAGIC[: len(content)]:
        raise BadPlan(f"{name} is not a plan: it does not begin with {MAGIC.decode()}.")
    if len(content) < HEADER.size:
        raise BadPlan(f"{name} is cut short; plan again.")
    _, version, crc, size, *counts = HEADER.unpack_from(content)
    if version > VERSION:
        raise BadPlan(
            f"{name} has plan version {version}, this halo reads up to {VERSION}; "
            "use the newer halo."
        )
    if version < OLDEST_VERSION:
        raise BadPlan(f"{name} has the plan version {version}, which never existed.")
    if len(content) < size:
        raise BadPlan(f"{name} is cut short; plan again.")
    body = HEADER.size
    others: list[int] = []
    if version >= HINT_VERSION:
        body += HINT_COUNTS.size
        if len(content) < body:
            raise BadPlan(f"{name} is cut short; plan again.")
        rules, *others = HINT_COUNTS.unpack_from(content, HEADER.size)
        if rules:
            raise BadPlan(
                f"{name} has rules for hints, which this halo does not serve; plan again."
            )
    head = Head._make((version, *counts))
    unknown = any(others) or (not head.selects and (head.sites or head.conjunctions))
    if unknown or (version < CHECKED_VERSION and (head.checked or head.relaxations)):
        raise BadPlan(f"{name} is not usable: it has a header field that is unknown.")
    whole = len(content) == size == body + head.body_size
    if not whole or zlib.crc32(content[HEADER.size :]) != crc:
        raise BadPlan(f"{name} is damaged; plan again.")
    if (
        head.modules > MAX_MODULES
        or head.groups > MAX_GROUPS
        or not 0 < head.states <= MAX_STATES
        or head.sites > MAX_SITES
        or head.conjunctions > MAX_CONJUNCTIONS
        or head.checked > MAX_MODULES
        or head.relaxations > MAX_RELAXATIONS
    ):
        raise BadPlan(f"{name} is not usable: it has too many parts, or no states.")
    known = OLD_HEADER_FLAGS if version < CHECKED_VERSION else HEADER_FLAGS
    if head.max_object > MAX_OBJECT_LIMIT or head.flags & ~known:
        raise BadPlan(f"{name} is not usable: its object limit or flags are unknown.")
    if head.executable > head.modules:
        raise BadPlan(f"{name} is not usable: it is for a module that is not there.")
    return head
