"""The closed grammar: its operations as numbers, and its limits."""

from __future__ import annotations

import pytest

from halo.locations.program import (
    Add,
    Constant,
    Frame,
    Image,
    Load,
    Operation,
    Program,
    Register,
    fits,
    pack,
)

LOAD = Load(8, False, 0)


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
    ],
)
def test_operations_have_numbers(operation: Operation, packed: tuple[int, int, int]) -> None:
    assert pack(operation) == packed


@pytest.mark.parametrize(
    ("program", "kept"),
    [
        ((Register(0),) + (LOAD,) * 11, True),
        ((Register(0),) + (LOAD,) * 12, False),
        ((Constant(0),) * 4 + (Add(0),) * 3, True),
        ((Constant(0),) * 5 + (Add(0),) * 4, False),
        ((Frame(31),), True),
        ((Frame(32),), False),
        ((Frame(-8),), False),
        ((Image((1 << 32) - 1),), True),
        ((Image(1 << 32),), False),
        ((Register(0), Load(8, False, (1 << 31) - 1)), True),
        ((Register(0), Load(8, False, 1 << 31)), False),
        ((Constant(-(1 << 31)),), True),
        ((Constant(1 << 31),), False),
    ],
)
def test_programs_have_limits(program: Program, kept: bool) -> None:
    assert fits(program, 32) is kept
