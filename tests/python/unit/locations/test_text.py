"""Programs as human-readable expressions."""

from __future__ import annotations

import pytest

from halo.locations.program import (
    Add,
    Combine,
    Constant,
    Convert,
    Extend,
    Frame,
    Image,
    Load,
    Program,
    Register,
)
from halo.locations.text import text_of

LOAD = Load(8, False, 0)


@pytest.mark.parametrize(
    ("program", "width", "text"),
    [
        ((Register(0),), 8, "rbx"),
        ((Register(1),), 1, "bpl"),
        ((Register(2),), 4, "r12d"),
        ((Register(5),), 2, "r15w"),
        ((Frame(0), Load(8, False, 0)), 8, "[rsp]"),
        ((Frame(24), Load(4, False, 0)), 4, "u32[rsp+0x18]"),
        ((Image(0x4040), Load(8, False, -8)), 8, "[image+0x4040-0x8]"),
        ((Register(0), Load(8, False, 16), Load(2, True, -4)), 2, "i16[[rbx+0x10]-0x4]"),
        (
            (Register(3), Load(8, False, 0), Register(4), Load(4, False, 8), Add(3)),
            8,
            "[r13]+u32[r14+0x8]*8",
        ),
        ((Register(2), Constant(1), Add(0)), 4, "r12+1"),
        ((Register(2), Constant(-1), Add(0)), 4, "r12-1"),
        ((Constant(0), Register(2), Add(3)), 8, "r12*8"),
        ((Register(0), Extend(4, True)), 8, "i32(rbx)"),
        ((Register(0), Register(1), Combine("mul")), 8, "(rbx * rbp)"),
        ((Register(0), Constant(5), Combine("shr")), 8, "(rbx >> 5)"),
        (
            (Register(0), Convert("i32", "f64"), Image(8), LOAD, Combine("div f64")),
            8,
            "f64(f64(i32 rbx) / [image+0x8])",
        ),
    ],
)
def test_programs_are_expressions(program: Program, width: int, text: str) -> None:
    assert text_of(program, width) == text
