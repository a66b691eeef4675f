"""Programs as human-readable expressions."""

from __future__ import annotations

import pytest

from halo.locations.program import Add, Constant, Frame, Image, Load, Program, Register
from halo.locations.text import text_of


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
    ],
)
def test_programs_are_expressions(program: Program, width: int, text: str) -> None:
    assert text_of(program, width) == text
