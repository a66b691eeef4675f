"""Plans with nonsense in a few of their fields; checksums, sizes and counts are right."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from halo.plan.layout import (
    CHECKED_MODULE,
    CONJUNCTION,
    GROUP,
    HEADER,
    HINT_COUNTS,
    HINT_VERSION,
    MODULE,
    RELAXATION,
    RULE_CONSTANT,
    RULE_FRAME_POINTER,
    SITE,
    STATE,
    VERDICT_FORWARD,
    VERDICT_UNDECIDED,
)

Record = list[int]
MAX_OBJECT, FLAGS, EXECUTABLE = 7, 8, 9  # fields of the header
SECTIONS = (MODULE, GROUP, STATE, SITE, CONJUNCTION, CHECKED_MODULE, RELAXATION)
PARENT, MODULE_OF, OFFSET, STEP, RULE, STATE_FLAGS, VERDICT, RBP_BELOW, ALIGNMENT = range(9)


@dataclass
class Parts:
    """The sections of a compact plan, as records whose fields can be changed."""

    header: list[int | bytes]
    hint_counts: bytes  # of a version that has them; zeroes
    modules: list[list[int | bytes]]
    groups: list[Record]
    states: list[Record]
    sites: list[Record]
    conjunctions: list[Record]
    checked: list[list[int | bytes]]
    relaxations: list[Record]


def take_apart(content: bytes) -> Parts:
    header = list(HEADER.unpack_from(content))
    at = HEADER.size + (HINT_COUNTS.size if header[1] >= HINT_VERSION else 0)
    hint_counts = content[HEADER.size : at]
    sections = []
    for record, count in zip(SECTIONS, (*header[4:7], *header[10:14]), strict=True):
        end = at + count * record.size
        sections.append([list(row) for row in record.iter_unpack(content[at:end])])
        at = end
    return Parts(header, hint_counts, *sections)


def put_together(parts: Parts) -> bytes:
    """The bytes, with the checksum, the size and the counts that they need."""
    sections: tuple[Sequence[Sequence[int | bytes]], ...] = (
        parts.modules,
        parts.groups,
        parts.states,
        parts.sites,
        parts.conjunctions,
        parts.checked,
        parts.relaxations,
    )
    body = parts.hint_counts + b"".join(
        record.pack(*row) for record, rows in zip(SECTIONS, sections, strict=True) for row in rows
    )
    header = list(parts.header)
    header[2:7] = zlib.crc32(body), HEADER.size + len(body), *map(len, sections[:3])
    header[10:14] = map(len, sections[3:])
    return HEADER.pack(*header) + body


def near_step(parts: Parts, draw: random.Random) -> None:
    """Another slot nearby, on the stack in any case."""
    state = draw.choice(parts.states)
    state[STEP] = max(8, state[STEP] + 8 * draw.randint(-32, 32))


def far_step(parts: Parts, draw: random.Random) -> None:
    """A slot that may lie beyond the end of the stack."""
    rows = [*(s for s in parts.states if s[RULE] == RULE_CONSTANT)]
    if rows:
        draw.choice(rows)[STEP] = 8 * draw.randrange(1, 1 << 17)
    for site in parts.sites:
        if draw.random() < 0.2:
            site[4] = 8 * draw.randrange(1, 1 << 17)


def rule(parts: Parts, draw: random.Random) -> None:
    state = draw.choice(parts.states)
    state[RULE] = draw.choice((0, RULE_CONSTANT, RULE_FRAME_POINTER, 3))
    if state[RULE] == RULE_FRAME_POINTER:
        state[STEP] = draw.choice((8, 0, -8, 8 * draw.randint(-64, 64)))


def saved_rbp(parts: Parts, draw: random.Random) -> None:
    state = draw.choice(parts.states)
    state[STATE_FLAGS] = draw.choice((0, 1, 1, 2))
    state[RBP_BELOW] = 8 * draw.randint(-4, 40)


def verdict(parts: Parts, draw: random.Random) -> None:
    groups = range(len(parts.groups) + 1)
    draw.choice(parts.states)[VERDICT] = draw.choice((VERDICT_UNDECIDED, VERDICT_FORWARD, *groups))


def parent(parts: Parts, draw: random.Random) -> None:
    at = draw.randrange(len(parts.states))
    parts.states[at][PARENT] = draw.randrange(at + 1)


def module(parts: Parts, draw: random.Random) -> None:
    draw.choice(parts.states)[MODULE_OF] = draw.randrange(len(parts.modules) + 1)


def offset(parts: Parts, draw: random.Random) -> None:
    state = draw.choice(parts.states)
    other = draw.choice(parts.states)[OFFSET]
    state[OFFSET] = draw.choice(
        (other, max(0, other + draw.randint(-64, 64)), draw.getrandbits(48))
    )


def alignment(parts: Parts, draw: random.Random) -> None:
    draw.choice(parts.states)[ALIGNMENT] = draw.choice((0, 3, 8, 16, 32, 64, 4096))


def group(parts: Parts, draw: random.Random) -> None:
    row = draw.choice(parts.groups)
    row[0] = draw.choice((0, 1, 2, 3, 4))
    row[1] = draw.choice((0, 1, 2))


def limits(parts: Parts, draw: random.Random) -> None:
    field, values = draw.choice(
        (
            (MAX_OBJECT, (0, 1, 8, 100, 4096, 65536, 65537, (1 << 32) - 1)),
            (FLAGS, (0, 1, 2, 3, 4)),
            (EXECUTABLE, (0, 1, 2, len(parts.modules), len(parts.modules) + 1)),
        )
    )
    parts.header[field] = draw.choice(values)


def records(parts: Parts, draw: random.Random) -> None:
    """One record less, twice, or in another place."""
    sections: Sequence[list[Record]] = (
        parts.groups,
        parts.states,
        parts.sites,
        parts.conjunctions,
    )
    rows = draw.choice([section for section in sections if section])
    at = draw.randrange(len(rows))
    row = rows[at] if draw.random() < 0.5 else rows.pop(at)
    if draw.random() < 0.7:
        rows.insert(draw.randrange(len(rows) + 1), list(row))


def selector(parts: Parts, draw: random.Random) -> None:
    if not parts.sites or not parts.conjunctions:
        return
    site, conjunction = draw.choice(parts.sites), draw.choice(parts.conjunctions)
    match draw.randrange(6):
        case 0:
            site[1] = draw.choice((0, 1, 2))
        case 1:
            site[2] = draw.choice((draw.choice(parts.sites)[2], site[2] + draw.randint(-8, 8)))
        case 2:
            site[4] = max(0, site[4] + 8 * draw.randint(-32, 32))
        case 3:
            conjunction[0] = draw.randrange(len(parts.groups) + 1)
        case 4:
            conjunction[1] = draw.choice((0, 8, 16, 32))
        case 5:
            conjunction[4 + draw.randrange(4)] = draw.choice((*range(len(parts.sites) + 1), 0xFFFF))
            conjunction[2] = draw.randrange(14)


def bit(parts: Parts, draw: random.Random) -> None:
    """One bit of any record."""
    name, record = draw.choice((("groups", GROUP), ("states", STATE)))
    rows = getattr(parts, name)
    at = draw.randrange(len(rows))
    content = bytearray(record.pack(*rows[at]))
    flipped = draw.randrange(len(content) * 8)
    content[flipped // 8] ^= 1 << flipped % 8
    rows[at] = list(record.unpack(content))


def relaxation(parts: Parts, draw: random.Random) -> None:
    """Another place in the code, other bytes there, or another module's."""
    if not parts.relaxations:
        return
    row = draw.choice(parts.relaxations)
    field = draw.randrange(4)
    if field == 0:
        row[0] += draw.randint(-64, 64)
    elif field < 3:
        row[field] = draw.randrange(256)
    else:
        one, other = draw.choice(parts.checked), draw.choice(parts.checked)
        one[2], other[2] = other[2], one[2]


def digest(parts: Parts, draw: random.Random) -> None:
    """Another content of a module, or an unknown one."""
    rows, bits = draw.choice(((parts.modules, 32), (parts.checked, 64)))
    if rows:
        draw.choice(rows)[-1] = draw.choice((0, draw.getrandbits(bits)))


Change = Callable[[Parts, random.Random], None]
CHANGES: Sequence[Change] = (
    near_step,
    far_step,
    relaxation,
    rule,
    saved_rbp,
    verdict,
    parent,
    module,
    offset,
    alignment,
    group,
    limits,
    records,
    selector,
    bit,
    digest,
)


def mutants(
    content: bytes, seed: int, changes: Sequence[Change] = CHANGES
) -> Iterator[tuple[str, bytes]]:
    """Changed plans without end, each with what was changed; number n depends on the seed and n."""
    number = 0
    while True:
        draw = random.Random(f"{seed} {number}")
        parts = take_apart(content)
        chosen = draw.choices(changes, k=draw.randint(1, 3))
        try:
            for change in chosen:
                change(parts, draw)
            mutant = put_together(parts)
        except (struct.error, IndexError, ValueError):
            mutant = content  # a field that cannot hold the value, or no records left
        if mutant != content:
            yield f"{seed} {number}: {', '.join(change.__name__ for change in chosen)}", mutant
        number += 1
