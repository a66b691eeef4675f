"""The rules of plans for hints, in the compact form."""

from __future__ import annotations

import math
import zlib
from dataclasses import replace

import pytest

from halo.errors import BadPlan
from halo.plan.compact import decode, encode
from halo.plan.hints.layout import HINT_HEADER, HINT_RULE, MAX_HINT_OPERATIONS
from halo.plan.hints.rules import ITSELF, HintKey, HintOperation, HintRule
from halo.plan.layout import HEADER, VERDICT_FORWARD
from halo.plan.model import Plan, PlanModule, State

REGISTER = HintOperation(0, 3, 0)
LOAD = HintOperation(3, 8, 16)
KEYS = (
    HintKey(1.5, "f64", ITSELF, (REGISTER,)),
    HintKey(2.0, "u32", 8, (REGISTER, LOAD, HintOperation(5, 0, -7), HintOperation(4, 3, 0), LOAD)),
)
RULES = (
    HintRule(0, 0x1000, 40, 64, 0, KEYS),
    HintRule(0, 0x2000, 56, 128, 0, (KEYS[1], KEYS[0]), avoids_frame=True, by_size=True),
    HintRule(1, 0x500, 8, 0, 1, KEYS[:1]),
)
PLAN = Plan(
    modules=(PlanModule("ab" * 20), PlanModule("cd" * 20)),
    groups=(),
    states=(State(0, 0, 0, 0, 0, VERDICT_FORWARD, 0, 0),),
    max_object=4096,
    huge_pages=False,
    hints=RULES,
)


def test_rules_survive() -> None:
    assert decode(encode(PLAN), "a.plan") == PLAN
    assert not PLAN.is_inert
    plain = replace(PLAN, hints=())
    assert plain.is_inert
    assert len(encode(PLAN)) - len(encode(plain)) == 16 + 3 * 32 + 5 * 24 + 13 * 8


def test_arithmetic_survives() -> None:
    program = (
        *(REGISTER, HintOperation(6, 0x84, 0), REGISTER, HintOperation(7, 7, 0)),
        *(HintOperation(8, 7, 0), REGISTER, HintOperation(7, 15, 0), HintOperation(8, 12, 0)),
    )
    plan = replace(PLAN, hints=(RULES[2]._replace(keys=(HintKey(1.0, "i32", ITSELF, program),)),))
    assert decode(encode(plan), "a.plan") == plan


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (RULES[::-1], "out of order"),
        ((RULES[0], RULES[0]), "out of order"),
        ((RULES[0]._replace(module=2),), "no valid address"),
        ((RULES[0]._replace(offset=1 << 47),), "no valid address"),
        ((RULES[0]._replace(bytes=0),), "impossible size"),
        ((RULES[0]._replace(bytes=1025),), "impossible size"),
        ((RULES[0]._replace(context=64),), "unknown context"),
        ((RULES[0]._replace(keys=()),), "no hints"),
        ((RULES[0], RULES[1]._replace(keys=KEYS[:1])), "two numbers of hints"),
    ],
)
def test_bad_rules_are_refused(rules: tuple[HintRule, ...], said: str) -> None:
    with pytest.raises(BadPlan, match=said):
        decode(encode(replace(PLAN, hints=rules)), "a.plan")


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (KEYS[0]._replace(width=0.0), "width"),
        (KEYS[0]._replace(width=math.inf), "width"),
        (KEYS[0]._replace(width=math.nan), "width"),
        (KEYS[0]._replace(behind=-2), "place"),
        (KEYS[0]._replace(program=()), "no operations"),
        (KEYS[0]._replace(program=(REGISTER, *[LOAD] * MAX_HINT_OPERATIONS)), "too many"),
        (KEYS[0]._replace(program=(LOAD,)), "lacks a value"),
        (KEYS[0]._replace(program=(REGISTER, REGISTER)), "too many values"),
        (KEYS[0]._replace(program=(REGISTER,) * 5), "too many values"),
        (KEYS[0]._replace(program=(HintOperation(0, 6, 0),)), "unknown"),
        (KEYS[0]._replace(program=(HintOperation(1, 0, 64),)), "outside the caller's frame"),
        (KEYS[0]._replace(program=(REGISTER, HintOperation(3, 5, 0))), "unknown"),
        (KEYS[0]._replace(program=(HintOperation(9, 0, 0),)), "unknown"),
        (KEYS[0]._replace(program=(HintOperation(6, 4, 0),)), "lacks a value"),
        (KEYS[0]._replace(program=(REGISTER, HintOperation(7, 0, 0))), "lacks a value"),
        (KEYS[0]._replace(program=(REGISTER, HintOperation(6, 8, 0))), "unknown"),
        (KEYS[0]._replace(program=(REGISTER, HintOperation(6, 4, 1))), "unknown"),
        (KEYS[0]._replace(program=(REGISTER, REGISTER, HintOperation(7, 16, 0))), "unknown"),
        *(
            (KEYS[0]._replace(program=(REGISTER, HintOperation(8, parameter, 0))), "unknown")
            for parameter in (0, 1, 4, 5, 10, 15, 16)
        ),
    ],
)
def test_bad_hints_are_refused(key: HintKey, said: str) -> None:
    rules = (RULES[0]._replace(keys=(key,)),)
    with pytest.raises(BadPlan, match=said):
        decode(encode(replace(PLAN, hints=rules)), "a.plan")


def test_damage_is_refused() -> None:
    content = encode(PLAN)
    for cut in range(len(content)):
        with pytest.raises(BadPlan):
            decode(content[:cut], "a.plan")
    for at in (*range(HEADER.size, HEADER.size + HINT_HEADER.size), len(content) - HINT_RULE.size):
        changed = bytearray(content)
        changed[at] ^= 0x40
        crc = zlib.crc32(changed[HEADER.size :])
        changed[12:16] = crc.to_bytes(4, "little")
        with pytest.raises(BadPlan):
            decode(bytes(changed), "a.plan")
