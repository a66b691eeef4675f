"""The rules of a plan for hints, and their compact form (docs/plan-format.md)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from halo.errors import BadPlan
from halo.plan.hints.layout import (
    HINT_AVOIDS_FRAME,
    HINT_BY_SIZE,
    HINT_CODE_ADD,
    HINT_CODE_COMBINE,
    HINT_CODE_CONVERT,
    HINT_CODE_EXTEND,
    HINT_CODE_LOAD,
    HINT_CODE_PUSH_CONSTANT,
    HINT_CODE_PUSH_FRAME,
    HINT_CODE_PUSH_IMAGE,
    HINT_CODE_PUSH_REGISTER,
    HINT_FLAGS,
    HINT_FUNCTIONS,
    HINT_HEADER,
    HINT_KEY,
    HINT_OPERATION,
    HINT_REGISTERS,
    HINT_RULE,
    HINT_SIGNED_LOAD,
    HINT_TYPE_F32,
    HINT_TYPES,
    MAX_HINT_BEHIND,
    MAX_HINT_BYTES,
    MAX_HINT_CONTEXTS,
    MAX_HINT_DEPTH,
    MAX_HINT_KEYS,
    MAX_HINT_OPERATIONS,
    MAX_HINT_RULES,
    MAX_HINT_SHIFT,
)
from halo.plan.layout import MAX_OFFSET, MAX_STEP

KINDS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64")
"""The types of values, by their number in the compact form."""
ITSELF = -1
"""The place behind a value that counts itself."""
_LOAD_WIDTHS = (1, 2, 4, 8)


class HintOperation(NamedTuple):
    """An operation on a stack of 64-bit values: one of the HINT_CODE constants of the layout."""

    code: int
    parameter: int
    value: int


class HintKey(NamedTuple):
    """A value of the new object, the result of a program of operations.

    `width` is that of an interval, `kind` one of KINDS. `behind` is ITSELF, or the bytes from where
    the value points to the one that counts.
    """

    width: float
    kind: str
    behind: int
    program: tuple[HintOperation, ...]


class HintRule(NamedTuple):
    """How objects of `bytes` bytes are placed that one call site allocates.

    `offset` is the return address, from the module's load bias. `frame_bytes` are those from the
    stack pointer at the return up to the end of the caller's frame. Objects of rules with one
    `context` share memory. With `avoids_frame`, no pointer into the frame is followed. With
    `by_size`, blocks are aligned to 8 bytes if their size allows it and all code of the process.
    """

    module: int
    offset: int
    bytes: int
    frame_bytes: int
    context: int
    keys: tuple[HintKey, ...]
    avoids_frame: bool = False
    by_size: bool = False


def encode_head(rules: tuple[HintRule, ...]) -> bytes:
    """The header of the section, which follows the plan's."""
    keys = [key for rule in rules for key in rule.keys]
    return HINT_HEADER.pack(len(rules), len(keys), sum(len(key.program) for key in keys), 0)


def encode_hints(rules: tuple[HintRule, ...]) -> bytes:
    """The section: rules, their keys, and the keys' operations."""
    keys = [key for rule in rules for key in rule.keys]
    operations = [operation for key in keys for operation in key.program]
    return b"".join(
        [
            *(
                HINT_RULE.pack(
                    rule.offset,
                    rule.module,
                    rule.bytes,
                    rule.frame_bytes,
                    rule.context,
                    len(rule.keys),
                    (HINT_AVOIDS_FRAME if rule.avoids_frame else 0)
                    | (HINT_BY_SIZE if rule.by_size else 0),
                )
                for rule in rules
            ),
            *(
                HINT_KEY.pack(key.width, KINDS.index(key.kind), key.behind, len(key.program), 0)
                for key in keys
            ),
            *(HINT_OPERATION.pack(one.code, one.parameter, 0, one.value) for one in operations),
        ]
    )


class HintCounts(NamedTuple):
    """The section's header."""

    rules: int = 0
    keys: int = 0
    operations: int = 0
    reserved: int = 0

    @property
    def body_size(self) -> int:
        """Bytes of the section without its header."""
        return (
            self.rules * HINT_RULE.size
            + self.keys * HINT_KEY.size
            + self.operations * HINT_OPERATION.size
        )


def decode_hints(
    content: bytes, counts: HintCounts, modules: int, name: str
) -> tuple[HintRule, ...]:
    """The rules in these bytes. Raises `BadPlan` for everything that the runtime refuses."""
    if counts.rules > MAX_HINT_RULES or counts.reserved:
        raise BadPlan(f"{name} is not usable: it has too many rules for hints.")
    keys_at = counts.rules * HINT_RULE.size
    operations_at = keys_at + counts.keys * HINT_KEY.size
    operations = HINT_OPERATION.iter_unpack(content[operations_at:])
    keys = _keys(HINT_KEY.iter_unpack(content[keys_at:operations_at]), operations, name)
    rules = []
    for row in HINT_RULE.iter_unpack(content[:keys_at]):
        offset, module, size, frame_bytes, context, count, flags = row
        own = tuple(islice(keys, count))
        if len(own) != count or flags & ~HINT_FLAGS:
            raise BadPlan(f"{name} is not usable: a rule lacks hints, or has unknown flags.")
        which = bool(flags & HINT_AVOIDS_FRAME), bool(flags & HINT_BY_SIZE)
        rules.append(HintRule(module, offset, size, frame_bytes, context, own, *which))
    if next(keys, None) is not None or next(operations, None) is not None:
        raise BadPlan(f"{name} is not usable: it has hints of no rule.")
    problem = _problem(rules, modules)
    if problem:
        raise BadPlan(f"{name} is not usable: {problem}.")
    return tuple(rules)


def _keys(
    rows: Iterator[tuple[object, ...]], operations: Iterator[tuple[int, ...]], name: str
) -> Iterator[HintKey]:
    for width, kind, behind, count, reserved in rows:
        assert isinstance(width, float) and isinstance(kind, int)
        assert isinstance(behind, int) and isinstance(count, int)
        own = list(islice(operations, count))
        unknown = reserved or kind >= len(KINDS) or any(row[2] for row in own)
        if len(own) != count or unknown:
            raise BadPlan(f"{name} is not usable: a hint lacks operations, or is unknown.")
        program = tuple(HintOperation(code, parameter, value) for code, parameter, _, value in own)
        yield HintKey(width, KINDS[kind], behind, program)


def _problem(rules: list[HintRule], modules: int) -> str:
    """The first problem, as a clause; empty if there is none."""
    counts: dict[int, int] = {}
    places = [rule[:2] for rule in rules]
    if any(before >= behind for before, behind in pairwise(places)):
        return "its rules for hints are out of order"
    for rule in rules:
        if rule.module >= modules or rule.offset >= MAX_OFFSET:
            return "a rule for hints has no valid address"
        if not 0 < rule.bytes <= MAX_HINT_BYTES or rule.frame_bytes > MAX_STEP:
            return "a rule for hints is for objects or frames of an impossible size"
        if rule.context >= MAX_HINT_CONTEXTS or not 0 < len(rule.keys) <= MAX_HINT_KEYS:
            return "a rule has no hints, too many, or an unknown context"
        if counts.setdefault(rule.context, len(rule.keys)) != len(rule.keys):
            return "a context has two numbers of hints"
        for key in rule.keys:
            if not (math.isfinite(key.width) and key.width > 0):
                return "a hint has an impossible width"
            if not ITSELF <= key.behind <= MAX_HINT_BEHIND:
                return "a hint is from an impossible place"
            if problem := _program_problem(key.program, rule.frame_bytes):
                return problem
    return ""


_EFFECTS = {
    **dict.fromkeys((HINT_CODE_LOAD, HINT_CODE_EXTEND, HINT_CODE_CONVERT), (1, 0)),
    **dict.fromkeys((HINT_CODE_ADD, HINT_CODE_COMBINE), (2, -1)),
}
"""How many values an operation needs, and by how many it changes their number; others push one."""


def _program_problem(program: tuple[HintOperation, ...], frame_bytes: int) -> str:
    if not 0 < len(program) <= MAX_HINT_OPERATIONS:
        return "a hint has no operations, or too many"
    depth = 0
    for one in program:
        if not _is_known(one, frame_bytes):
            return "a hint has an operation that is unknown, or from outside the caller's frame"
        needs, change = _EFFECTS.get(one.code, (0, 1))
        if depth < needs:
            return "a hint lacks a value"
        depth += change
        if depth > MAX_HINT_DEPTH:
            return "a hint has too many values"
    return "" if depth == 1 else "a hint has too many values"


def _is_known(one: HintOperation, frame_bytes: int) -> bool:
    if one.code == HINT_CODE_PUSH_REGISTER:
        return one.parameter < HINT_REGISTERS and one.value == 0
    if one.code == HINT_CODE_PUSH_FRAME:
        return one.parameter == 0 and 0 <= one.value < frame_bytes
    if one.code in (HINT_CODE_PUSH_IMAGE, HINT_CODE_PUSH_CONSTANT):
        return one.parameter == 0
    if one.code == HINT_CODE_LOAD:
        return one.parameter & ~HINT_SIGNED_LOAD in _LOAD_WIDTHS
    return one.value == 0 and _is_known_arithmetic(one)


def _is_known_arithmetic(one: HintOperation) -> bool:
    if one.code == HINT_CODE_ADD:
        return one.parameter <= MAX_HINT_SHIFT
    if one.code == HINT_CODE_EXTEND:
        return one.parameter & ~HINT_SIGNED_LOAD in _LOAD_WIDTHS[:-1]
    if one.code == HINT_CODE_COMBINE:
        return one.parameter < HINT_FUNCTIONS
    source, target = divmod(one.parameter, HINT_TYPES)
    is_real = source >= HINT_TYPE_F32 or target >= HINT_TYPE_F32
    return one.code == HINT_CODE_CONVERT and source < HINT_TYPES and source != target and is_real
