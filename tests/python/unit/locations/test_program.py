"""The closed grammar: its operations as numbers, and its limits."""

from __future__ import annotations

import pytest

from halo.locations.program import (
    FUNCTIONS,
    MAX_OPERATIONS,
    TYPES,
    Add,
    Combine,
    Constant,
    Convert,
    Extend,
    Frame,
    Image,
    Load,
    Operation,
    Program,
    Register,
    fits,
    pack,
)
from halo.plan.hints import layout

LOAD = Load(8, False, 0)


def test_the_operations_have_the_numbers_of_the_plan() -> None:
    assert layout.MAX_HINT_OPERATIONS == MAX_OPERATIONS
    assert (len(FUNCTIONS), len(TYPES)) == (layout.HINT_FUNCTIONS, layout.HINT_TYPES)
    names = {name: number for name, number in vars(layout).items() if "HINT_FUNCTION_" in name}
    short = {"SUBTRACT": "sub", "MULTIPLY": "mul", "DIVIDE": "div", "ADD": "add"}
    short |= {"SHIFT_LEFT": "shl", "SHIFT_RIGHT": "shr", "SHIFT_SIGN": "sar"}
    short |= {"BIT_AND": "and", "BIT_OR": "or", "BIT_XOR": "xor"}
    for name, number in names.items():
        whole = name.removeprefix("HINT_FUNCTION_")
        plain, _, kind = whole.rpartition("_") if whole[-3:] in ("F32", "F64") else (whole, "", "")
        assert FUNCTIONS[number] == f"{short[plain]} {kind.lower()}".strip()
    assert [getattr(layout, f"HINT_TYPE_{kind.upper()}") for kind in TYPES] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("operation", "packed"),
    [
        (Register(5), (0, 5, 0)),
        (Frame(24), (1, 0, 24)),
        (Image(0x4040), (2, 0, 0x4040)),
        (Load(4, False, -8), (3, 4, -8)),
        (Load(2, True, 6), (3, 0x82, 6)),
        (Add(3), (4, 3, 0)),
        (Constant(-1), (5, 0, -1)),
        (Extend(4, True), (6, 0x84, 0)),
        (Combine("sub"), (7, 0, 0)),
        (Combine("sar"), (7, 7, 0)),
        (Combine("mul f32"), (7, 10, 0)),
        (Combine("div f64"), (7, 15, 0)),
        (Convert("i32", "f64"), (8, 3, 0)),
        (Convert("f64", "i64"), (8, 13, 0)),
    ],
)
def test_operations_have_numbers(operation: Operation, packed: tuple[int, int, int]) -> None:
    assert pack(operation) == packed


@pytest.mark.parametrize(
    ("program", "kept"),
    [
        ((Register(0),) + (LOAD,) * (MAX_OPERATIONS - 1), True),
        ((Register(0),) + (LOAD,) * MAX_OPERATIONS, False),
        ((Constant(0),) * 4 + (Combine("mul"),) * 3, True),
        ((Constant(0),) * 3 + (Extend(4, False), Convert("i64", "f64"), Constant(0)), True),
        ((Constant(0),) * 4 + (Add(0),) * 3, True),
        ((Constant(0),) * 5 + (Add(0),) * 4, False),
        ((Frame(31),), True),
        ((Frame(32),), False),
        ((Frame(-8),), False),
        ((Image((1 << 32) - 1),), True),
        ((Image(1 << 32),), False),
        ((Register(0), Load(8, False, (1 << 31) - 1)), True),
        ((Register(0), Load(8, False, 1 << 31)), False),
        ((Register(0), Load(3, False, 0)), False),
        ((Register(0), Extend(4, True)), True),
        ((Register(0), Extend(8, True)), False),
        ((Constant(-(1 << 31)),), True),
        ((Constant(1 << 31),), False),
    ],
)
def test_programs_have_limits(program: Program, kept: bool) -> None:
    assert fits(program, 32) is kept
