"""The values that the analysis finds for the stores behind an allocation."""

from __future__ import annotations

from pathlib import Path

import pytest

from halo.locations import (
    Add,
    Combine,
    Constant,
    Convert,
    Extend,
    Frame,
    Load,
    Program,
    Register,
    value_at,
)
from support.call_sites import stores_behind

RBX, RBP, R12, R13 = (Register(number) for number in range(4))


def load(width: int, displacement: int = 0, signed: bool = False) -> Load:
    return Load(width, signed, displacement)


VALUES: dict[str, tuple[str, int, Program | None]] = {
    "a register": ("mov [rax], rbx", 8, (RBX,)),
    "half a register": ("mov [rax], r12d", 4, (R12,)),
    "a copied half": ("mov ecx, r12d; mov [rax], ecx", 4, (R12,)),
    "a load": ("mov rcx, [rbx+8]; mov [rax], rcx", 8, (RBX, load(8, 8))),
    "two loads": (
        "mov rcx, [rbx]; mov ecx, [rcx-4]; mov [rax], ecx",
        4,
        (RBX, load(8), load(4, -4)),
    ),
    "a frame slot": ("mov rcx, [rsp+24]; mov [rax], rcx", 8, (Frame(24), load(8))),
    "a frame address": ("lea rcx, [rsp+16]; mov [rax], rcx", 8, (Frame(16),)),
    "above the frame": ("mov rcx, [rsp+40]; mov [rax], rcx", 8, None),
    "below the frame": ("mov rcx, [rsp-8]; mov [rax], rcx", 8, None),
    "zero-extended": ("movzx ecx, word ptr [rbx]; mov [rax], ecx", 4, (RBX, load(2))),
    "to 64 bits": ("mov ecx, [rbx]; mov [rax], rcx", 8, (RBX, load(4))),
    "sign-extended": ("movsxd rcx, dword ptr [rbx]; mov [rax], rcx", 8, (RBX, load(4, 0, True))),
    "extended twice": (
        "mov ecx, [rbx]; movsxd rcx, ecx; mov [rax], rcx",
        8,
        (RBX, load(4, 0, True)),
    ),
    "a register's half": ("mov ecx, ebx; mov [rax], rcx", 8, (RBX, Extend(4, False))),
    "a register's signed half": ("movsxd rcx, ebx; mov [rax], rcx", 8, (RBX, Extend(4, True))),
    "a register's byte": ("movzx ecx, bl; mov [rax], ecx", 4, (RBX, Extend(1, False))),
    "a masked register": (
        "mov ecx, ebx; and ecx, 0xffff; mov [rax], ecx",
        4,
        (RBX, Extend(2, False)),
    ),
    "an element": (
        "mov ecx, [rbx]; mov rcx, [rbp+rcx*8+16]; mov [rax], rcx",
        8,
        (RBP, RBX, load(4), Add(3), load(8, 16)),
    ),
    "the next index": ("lea ecx, [r12+1]; mov [rax], ecx", 4, (R12, Constant(1), Add(0))),
    "a difference": (
        "mov rcx, rbx; sub rcx, 8; mov rcx, [rcx]; mov [rax], rcx",
        8,
        (RBX, load(8, -8)),
    ),
    "a shift": (
        "mov rcx, r12; shl rcx, 3; add rcx, rbx; mov rcx, [rcx]; mov [rax], rcx",
        8,
        (Constant(0), R12, Add(3), RBX, Add(0), load(8)),
    ),
    "a product": ("mov rcx, rbx; imul rcx, r12; mov [rax], rcx", 8, (RBX, R12, Combine("mul"))),
    "a multiple": ("imul ecx, ebx, 100; mov [rax], ecx", 4, (RBX, Constant(100), Combine("mul"))),
    "a low product": (
        "mov r9, rax; mov rax, rbx; mul r12; mov [r9], rax",
        8,
        (RBX, R12, Combine("mul")),
    ),
    "a high product": ("mov r9, rax; mov rax, rbx; mul r12; mov [r9], rdx", 8, None),
    "a wide shift": (
        "mov rcx, rbx; shl rcx, 20; mov [rax], rcx",
        8,
        (RBX, Constant(20), Combine("shl")),
    ),
    "a right shift": (
        "mov ecx, ebx; shr ecx, 5; mov [rax], ecx",
        4,
        (RBX, Extend(4, False), Constant(5), Combine("shr")),
    ),
    "a signed shift": (
        "mov rcx, rbx; sar rcx, 5; mov [rax], rcx",
        8,
        (RBX, Constant(5), Combine("sar")),
    ),
    "a shift of bytes": ("mov rcx, [rbx]; shr rcx, 32; mov [rax], rcx", 8, (RBX, load(4, 4))),
    "a shift of odd bytes": (
        "mov rcx, [rbx]; shr rcx, 8; mov [rax], rcx",
        8,
        (RBX, load(8), Constant(8), Combine("shr")),
    ),
    "a shift of all bits": ("mov ecx, ebx; shl cx, 20; mov [rax], cx", 2, None),
    "a shift by a register": ("mov ecx, r12d; mov rdx, rbx; shr rdx, cl; mov [rax], rdx", 8, None),
    "a difference of values": (
        "mov rcx, rbx; sub rcx, r12; mov [rax], rcx",
        8,
        (RBX, R12, Combine("sub")),
    ),
    "bits": (
        "mov ecx, ebx; and ecx, 7; or ecx, r12d; xor ecx, 5; mov [rax], ecx",
        4,
        (RBX, Constant(7), Combine("and"), R12, Combine("or"), Constant(5), Combine("xor")),
    ),
    "a complement": (
        "mov ecx, ebx; not ecx; mov [rax], ecx",
        4,
        (RBX, Constant(-1), Combine("xor")),
    ),
    "a negation": ("mov ecx, ebx; neg ecx; mov [rax], ecx", 4, (Constant(0), RBX, Combine("sub"))),
    "a large number": (
        "mov ecx, 0xcccccccd; imul rcx, rbx; mov [rax], rcx",
        8,
        (Constant(-0x33333333), Extend(4, False), RBX, Combine("mul")),
    ),
    "a huge number": (
        "movabs rcx, 0x123456789abcdef0; xor rcx, rbx; mov [rax], rcx",
        8,
        (
            *(Constant(0x12345679), Constant(32), Combine("shl"), Constant(-0x65432110), Add(0)),
            *(RBX, Combine("xor")),
        ),
    ),
    "too many operations": (f"mov rcx, rbx; {'imul rcx, rcx, 7; ' * 12} mov [rax], rcx", 8, None),
    "too many values": (
        "mov rcx, r13; sub rcx, r14; mov rdx, r12; xor rdx, rcx; mov rcx, rbp; or rcx, rdx;"
        " mov rdx, r15; imul rdx, rcx; mov rcx, rbx; sub rcx, rdx; mov [rax], rcx",
        8,
        None,
    ),
    "a number as a real": (
        "pxor xmm0, xmm0; cvtsi2sd xmm0, ebx; movsd [rax], xmm0",
        8,
        (RBX, Convert("i32", "f64")),
    ),
    "a real as a number": (
        "cvttss2si rcx, dword ptr [rbx]; mov [rax], rcx",
        8,
        (RBX, load(4), Convert("f32", "i64")),
    ),
    "a wider real": (
        "cvtss2sd xmm0, dword ptr [rbx]; movsd [rax], xmm0",
        8,
        (RBX, load(4), Convert("f32", "f64")),
    ),
    "a narrower real": (
        "movsd xmm1, [rbx]; cvtsd2ss xmm0, xmm1; movss [rax], xmm0",
        4,
        (RBX, load(8), Convert("f64", "f32")),
    ),
    "a choice": ("mov rcx, rbx; cmovs rcx, r12; mov [rax], rcx", 8, None),
    "a caller-saved register": ("mov [rax], rcx", 8, None),
    "the object": ("mov [rax], rax", 8, None),
    "a spill": ("mov [rsp+8], rbx; mov rbx, r12; mov rcx, [rsp+8]; mov [rax], rcx", 8, (RBX,)),
    "half a spill": ("mov [rsp+8], rbx; mov ecx, [rsp+8]; mov [rax], ecx", 4, (RBX,)),
    "the high half": (
        "mov [rsp+8], rbx; mov ecx, [rsp+12]; mov [rax], ecx",
        4,
        (RBX, Constant(32), Combine("shr")),
    ),
    "the high half of a load": (
        "mov rcx, [rbx]; mov [rsp], rcx; mov ecx, [rsp+4]; mov [rax], ecx",
        4,
        (RBX, load(4, 4)),
    ),
    "an overlapped spill": (
        "mov [rsp+8], rbx; mov [rsp+4], r12; mov rcx, [rsp+8]; mov [rax], rcx",
        8,
        None,
    ),
    "push and pop": ("push rbx; pop rcx; mov [rax], rcx", 8, (RBX,)),
    "the spilled object": ("mov [rsp], rax; mov rcx, [rsp]; mov [rcx], rbx", 8, (RBX,)),
    "a field of the object": ("mov [rax+8], rbx; mov rcx, [rax+8]; mov [rax], rcx", 8, (RBX,)),
    "an unknown field": ("mov rcx, [rax+8]; mov [rax], rcx", 8, None),
    "a moved object": ("lea rcx, [rax+16]; mov [rcx-16], rbx", 8, (RBX,)),
    "a float": ("movss xmm0, [rbx]; movss [rax], xmm0", 4, (RBX, load(4))),
    "a double": ("movsd xmm0, [rbx]; movq [rax], xmm0", 8, (RBX, load(8))),
    "another unit": (
        "movsd xmm0, [rbx]; mulsd xmm0, [r12]; movsd [rax], xmm0",
        8,
        (RBX, load(8), R12, load(8), Combine("mul f64")),
    ),
    "with three reals": (
        "vmovss xmm1, [rbx]; vsubss xmm0, xmm1, [r12]; vmovss [rax], xmm0",
        4,
        (RBX, load(4), R12, load(4), Combine("sub f32")),
    ),
    "the square root": ("sqrtsd xmm0, [rbx]; movsd [rax], xmm0", 8, None),
    "by a thread": ("mov rcx, fs:[40]; mov [rax], rcx", 8, None),
    "a string": ("lea rdi, [rax]; mov rsi, rbx; movsq", 8, None),
    "a slot at the start": (
        "mov rcx, [rsp]; mov [rsp+8], rcx; mov rdx, [rcx]; mov [rax], rdx",
        8,
        (Frame(0), load(8), load(8)),
    ),
    "an element of the frame": (
        "mov rcx, [rsp+rbx*8+8]; mov [rax], rcx",
        8,
        (Frame(0), RBX, Add(3), load(8, 8)),
    ),
    "an element of a changed frame": (
        "mov [rsp], rcx; mov rcx, [rsp+rbx*8+8]; mov [rax], rcx",
        8,
        None,
    ),
    "beside an unknown number": ("lea rcx, [rdx+rbx+8]; mov [rax], rcx", 8, None),
    "a byte": ("mov [rax], bl", 1, (RBX,)),
    "a high byte": ("mov [rax], bh", 1, None),
    "a merged byte": ("mov rcx, rbx; mov cl, r12b; mov [rax], rcx", 8, None),
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name: str, tmp_path: Path) -> None:
    lines, width, program = VALUES[name]
    assert value_at(stores_behind(tmp_path, lines), 0, width) == program


VECTORS: dict[str, tuple[str, Program | None, Program | None]] = {
    "two loads by halves": (
        "movsd xmm0, [rbx]; movhpd xmm0, [r12+8]; movups [rax], xmm0",
        (RBX, load(8)),
        (R12, load(8, 8)),
    ),
    "two registers": (
        "movq xmm0, rbx; movq xmm1, r12; punpcklqdq xmm0, xmm1; movups [rax], xmm0",
        (RBX,),
        (R12,),
    ),
    "two doubles": (
        "movsd xmm0, [rsp]; movsd xmm1, [rsp+8]; unpcklpd xmm0, xmm1; movups [rax], xmm0",
        (Frame(0), load(8)),
        (Frame(8), load(8)),
    ),
    "one inserted": ("movq xmm0, rbx; pinsrq xmm0, rbp, 1; movups [rax], xmm0", (RBX,), (RBP,)),
    "with three operands": (
        "vmovq xmm1, rbx; vpinsrq xmm0, xmm1, r13, 1; vmovdqu [rax], xmm0",
        (RBX,),
        (R13,),
    ),
    "a three-operand half": (
        "vmovsd xmm1, [rbx]; vmovhps xmm0, xmm1, [rbp]; vmovups [rax], xmm0",
        (RBX, load(8)),
        (RBP, load(8)),
    ),
    "a copy of 16 bytes": (
        "movdqu xmm3, [rbp+16]; movaps xmm5, xmm3; movups [rax], xmm5",
        (RBP, load(8, 16)),
        (RBP, load(8, 24)),
    ),
    "a copy of 32 bytes": (
        "vmovdqu ymm3, [rbp+16]; vmovups [rax], ymm3",
        (RBP, load(8, 16)),
        (RBP, load(8, 24)),
    ),
    "moved up": (
        "movq xmm0, rbx; movq xmm1, r12; movlhps xmm0, xmm1; movups [rax], xmm0",
        (RBX,),
        (R12,),
    ),
    "swapped": (
        "movdqu xmm0, [rbx]; pshufd xmm1, xmm0, 0x4e; movups [rax], xmm1",
        (RBX, load(8, 8)),
        (RBX, load(8)),
    ),
    "spilled": (
        "movups xmm0, [rbx]; movaps [rsp], xmm0; mov rcx, [rsp+8]; mov [rax+8], rcx",
        None,
        (RBX, load(8, 8)),
    ),
    "added to unknown ones": (
        "movups xmm0, [rbx]; addpd xmm0, xmm1; movups [rax], xmm0",
        None,
        None,
    ),
    "multiplied": (
        "movups xmm0, [rbx]; movups xmm1, [r12]; mulpd xmm0, xmm1; movups [rax], xmm0",
        (RBX, load(8), R12, load(8), Combine("mul f64")),
        (RBX, load(8, 8), R12, load(8, 8), Combine("mul f64")),
    ),
    "converted": (
        "movq xmm1, [rbx]; cvtdq2pd xmm0, xmm1; movups [rax], xmm0",
        (RBX, load(8), Convert("i32", "f64")),
        (RBX, load(4, 4), Convert("i32", "f64")),
    ),
    "widened": (
        "cvtps2pd xmm0, [rbx]; movups [rax], xmm0",
        (RBX, load(8), Convert("f32", "f64")),
        (RBX, load(4, 4), Convert("f32", "f64")),
    ),
    "one of a pair": (
        "movups xmm0, [rbx]; movsd xmm1, [r12]; addsd xmm0, xmm1; movups [rax], xmm0",
        (RBX, load(8), R12, load(8), Combine("add f64")),
        (RBX, load(8, 8)),
    ),
    "broadcast": (
        "movups xmm0, [rbx]; vmulpd xmm0, xmm0, [r12]{1to2}; movups [rax], xmm0",
        None,
        None,
    ),
    "of a wider register": (
        "vmovupd ymm1, [rbx]; vcvtpd2ps xmm0, ymm1; movups [rax], xmm0",
        None,
        None,
    ),
    "masked": ("vmovdqu64 xmm0{k1}, [rbx]; vmovdqu64 [rax], xmm0", None, None),
}


@pytest.mark.parametrize("name", VECTORS)
def test_pairs_of_values(name: str, tmp_path: Path) -> None:
    lines, low, high = VECTORS[name]
    stores = stores_behind(tmp_path, lines)
    assert (value_at(stores, 0, 8), value_at(stores, 8, 8)) == (low, high)


def test_four_values_at_once(tmp_path: Path) -> None:
    lines = """movd xmm0, ebx; movd xmm1, r12d; punpckldq xmm0, xmm1
        movd xmm2, ebp; pinsrd xmm2, r13d, 1; punpcklqdq xmm0, xmm2; movups [rax], xmm0"""
    stores = stores_behind(tmp_path, lines)
    assert [value_at(stores, at, 4) for at in (0, 4, 8, 12)] == [(RBX,), (R12,), (RBP,), (R13,)]


def test_zeros_are_constants(tmp_path: Path) -> None:
    lines = "pxor xmm0, xmm0; movups [rax], xmm0; mov dword ptr [rax+16], -1; xor ecx, ecx"
    stores = stores_behind(tmp_path, f"{lines}; mov [rax+24], rcx")
    assert [(each.offset, each.width, each.constant, each.program) for each in stores.stores] == [
        (0, 8, True, (Constant(0),)),
        (8, 8, True, (Constant(0),)),
        (16, 4, True, (Constant(-1),)),
        (24, 8, True, (Constant(0),)),
    ]


def test_a_filled_object_keeps_its_later_fields(tmp_path: Path) -> None:
    lines = "mov rdx, rax; mov rdi, rax; mov ecx, 4; xor eax, eax; rep stosq; mov [rdi-8], rbx"
    found = stores_behind(tmp_path, f"{lines}; mov [rdx], r12")
    assert [store.offset for store in found.stores if store.constant] == [0, 8, 16, 24]
    assert (value_at(found, 0, 8), value_at(found, 24, 8)) == ((R12,), (RBX,))


@pytest.mark.parametrize(
    "lines",
    [
        "mov rdi, rax; rep stosq",
        "mov rdi, rax; mov ecx, 129; rep stosq",
        "mov rdi, rbx; mov ecx, 2; rep stosq",
        "mov rdi, rax; mov ecx, 2; stosq",
        "mov rdi, rax; mov ecx, 2; rep movsq",
        "mov rdi, rax; mov rcx, -1; rep stosb",
    ],
)
def test_other_fills_end_the_way(lines: str, tmp_path: Path) -> None:
    assert stores_behind(tmp_path, lines).reason == "an unsupported instruction"


def test_a_value_is_found_below_a_later_constant(tmp_path: Path) -> None:
    stores = stores_behind(tmp_path, "mov [rax], rbx; mov qword ptr [rax], 0")
    assert value_at(stores, 0, 8) == (RBX,)


def test_parts_of_a_field(tmp_path: Path) -> None:
    stores = stores_behind(tmp_path, "mov rcx, [rbx]; mov [rax], rcx; mov [rax+8], r12")
    assert value_at(stores, 4, 4) == (RBX, load(4, 4))
    assert value_at(stores, 0, 16) is None
    assert value_at(stores, 8, 4) == (R12,)
    assert value_at(stores, 12, 4) == (R12, Constant(32), Combine("shr"))
    assert value_at(stores, 16, 8) is None
