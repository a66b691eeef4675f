"""The analysis, instruction by instruction: what it follows, where it stops, what it believes."""

from __future__ import annotations

from pathlib import Path

import pytest

from halo.locations import (
    Combine,
    Frame,
    Image,
    Load,
    Register,
    value_at,
)
from support.call_sites import FRAME_BYTES, stores_behind

RBX, RBP, R12, R13 = (Register(number) for number in range(4))


def load(width: int, displacement: int = 0, signed: bool = False) -> Load:
    return Load(width, signed, displacement)


# Code, and the reason why the analysis stops before the store that follows it.
STOPS = {
    "call malloc@PLT": "a call",
    "call [rbx]": "a call",
    "jmp [rbx]": "an indirect jump",
    "ret": "a return",
    "syscall": "a system call",
    "test rbx, rbx; je 1f; 1:": "a conditional branch",
    "test rax, rax; add rbx, 1; je 1f; 1:": "a conditional branch",
    "lea rcx, [rax+8]; test rcx, rcx; je 1f; 1:": "a conditional branch",
    "test eax, eax; je 1f; 1:": "a conditional branch",
    "test rax, rax; js 1f; 1:": "a conditional branch",
    "1: inc rbx; jmp 1b": "a loop",
    "rep stosq": "an unsupported instruction",
    "lock inc qword ptr [rbx]": "an unsupported instruction",
    "xchg [rbx], rcx": "an unsupported instruction",
    "mfence": "an unsupported instruction",
    "movnti [rbx], rcx": "an unsupported instruction",
    "vmovdqu64 [rbx]{k1}, xmm0": "an unsupported instruction",
    "ud2": "an unsupported instruction",
    ".byte 0x06": "no valid code",
    ".rept 300; nop; .endr": "300 instructions",
}


@pytest.mark.parametrize("lines", STOPS)
def test_where_it_stops(lines: str, tmp_path: Path) -> None:
    found = stores_behind(tmp_path, f"mov [rax], rbx; {lines}; mov [rax+8], rbx")
    assert found.reason == STOPS[lines]
    assert value_at(found, 0, 8) == (RBX,)
    assert value_at(found, 8, 8) is None


@pytest.mark.parametrize(
    "lines",
    [
        "jmp 1f; ud2; 1:",
        "test rax, rax; je 1f; jmp 2f; 1: ud2; 2:",
        "test rax, rax; jne 1f; ud2; 1:",
        "cmp rax, 0; jne 1f; ud2; 1:",
        "mov [rsp], rax; cmp qword ptr [rsp], 0; jne 1f; ud2; 1:",
        "mov rcx, rax; test rcx, rcx; mov rdx, rbx; jne 1f; ud2; 1:",
        ".rept 200; nop; .endr",
        "endbr64; prefetcht0 [rbx]",
        "inc qword ptr [rsp+8]; setne byte ptr [rsp]; and qword ptr [rsp+16], 3",
    ],
)
def test_what_it_follows(lines: str, tmp_path: Path) -> None:
    found = stores_behind(tmp_path, f"{lines}; mov [rax], rbx")
    assert value_at(found, 0, 8) == (RBX,)


# Stores, and whether a later load through a pointer and one from the frame are still believed.
@pytest.mark.parametrize(
    ("store", "by_pointer", "from_frame"),
    [
        ("mov [rax+32], rcx", True, True),
        ("mov [rsp], rcx", True, True),
        ("push rcx", True, True),
        ("mov [rbp], rcx", False, False),
        ("mov [rdi], rcx", False, False),
        ("mov [rip+data], rcx", False, False),
        ("mov [rsp+rbx*8], rcx", False, False),
        ("mov [rax-8], rcx", False, False),
        ("mov [rax+rbx*8], rcx", False, False),
        ("mov [rsp+32], rcx", False, False),
        ("mov fs:[0], rcx", False, False),
    ],
)
def test_what_a_store_does_to_later_loads(
    store: str, by_pointer: bool, from_frame: bool, tmp_path: Path
) -> None:
    offset = 16 if "push" in store else 8
    lines = f"mov rdx, [r12]; {store}; mov rsi, [r13]; mov r8, [rsp+{offset}]"
    found = stores_behind(tmp_path, f"{lines}; mov [rax], rdx; mov [rax+8], rsi; mov [rax+16], r8")
    assert value_at(found, 0, 8) == (R12, load(8))
    assert value_at(found, 8, 8) == ((R13, load(8)) if by_pointer else None)
    assert value_at(found, 16, 8) == ((Frame(8), load(8)) if from_frame else None)


def test_slots_survive_other_stores_only_if_no_pointer_leads_to_them(tmp_path: Path) -> None:
    lines = "mov [rsp+8], rbx; mov [rbp], rcx; mov rdx, [rsp+8]; mov [rax], rdx"
    assert value_at(stores_behind(tmp_path, lines), 0, 8) == (RBX,)
    escaped = stores_behind(tmp_path, lines, before="lea rdi, [rsp+8]")
    assert value_at(escaped, 0, 8) is None


def test_a_function_that_is_jumped_to_has_a_frame_of_its_own(tmp_path: Path) -> None:
    epilogue = f"add rsp, {FRAME_BYTES}; jmp 1f; ud2; 1:"
    kept = "push rbx; mov [rbp], rcx; pop rdx; mov [rax], rdx"
    assert value_at(stores_behind(tmp_path, f"{epilogue} {kept}"), 0, 8) == (RBX,)
    escaping = "push rbx; mov rsi, rsp; mov [rbp], rsi; mov [rcx], rcx; pop rdx; mov [rax], rdx"
    assert value_at(stores_behind(tmp_path, f"{epilogue} {escaping}"), 0, 8) is None


@pytest.mark.parametrize(
    ("lines", "noted"),
    [
        ("mov rcx, [rbx]; mov [rsp], rcx; mov [rax], rcx", False),
        ("mov [rsp], rcx; mov rcx, [rbx]; mov [rax], rcx", True),
        ("mov [rsp], rcx; mov rcx, [rsp+8]; mov [rax], rcx", False),
        ("push rcx; mov rcx, [rbx]; mov [rax], rcx", False),
        ("mov [rsp], rcx; mov rcx, [rbx]; mov [rax], r12", False),
    ],
)
def test_loads_behind_stores_to_the_frame_are_noted(
    lines: str, noted: bool, tmp_path: Path
) -> None:
    found = stores_behind(tmp_path, lines)
    assert found.stores_to_frame is noted
    assert found.frame_bytes == FRAME_BYTES


def test_data_that_nothing_can_write_are_read_behind_any_store(tmp_path: Path) -> None:
    constant = ".section .rodata; number: .double 2.5; .text"
    variable = ".data; number: .double 2.5; .text"
    lines = "mov [rdi], rcx; movsd xmm0, [rip+number]; mulsd xmm0, [rip+number]; movsd [rax], xmm0"
    program = value_at(stores_behind(tmp_path, f"{lines}; {constant}"), 0, 8) or ()
    kinds = [Image, Load, Image, Load, Combine]
    assert [type(operation) for operation in program] == kinds
    assert value_at(stores_behind(tmp_path, f"{lines}; {variable}"), 0, 8) is None


def test_parts_of_odd_widths_have_no_program(tmp_path: Path) -> None:
    lines = "mov [rsp+8], rbx; mov [rsp+6], r12w; mov rcx, [rsp+6]; mov [rax], rcx"
    stores = stores_behind(tmp_path, lines)
    assert [(one.offset, one.width, one.program) for one in stores.stores] == [
        (0, 2, (R12,)),
        (2, 6, (RBX,)),
    ]
    shifted = "mov [rsp+8], rbx; mov byte ptr [rsp+8], 7; mov rcx, [rsp+8]; mov [rax], rcx"
    assert stores_behind(tmp_path, shifted).stores[1].program is None


def test_numbers_before_the_call_are_known(tmp_path: Path) -> None:
    """Without them the offset in the object would be unknown: gcc's loops begin like that."""
    lines = "mov rcx, [rbx+rbp*8]; mov [rax+rbp*8], rcx"
    assert value_at(stores_behind(tmp_path, lines, "xor ebp, ebp"), 0, 8) == (RBX, load(8))
    assert value_at(stores_behind(tmp_path, lines, "mov ebp, 2"), 16, 8) == (RBX, load(8, 16))


@pytest.mark.parametrize(
    "before",
    [
        "",
        "xor ebp, ebp; mov rbp, rdi",
        "xor ebp, ebp; 1: nop; cmp rsi, rdi; je 1b",
        "xor ebp, ebp; call g@PLT",
        "test rdi, rdi; je 1f; xor ebp, ebp; 1:",
        "xor ebp, ebp; cmp rdi, rsi; je 1f; jmp [rdi]; 1:",
        "xor ebp, ebp; 1: nop; .section .text.cold; jmp 1b; .text",
        "xor ebp, ebp; 1: nop; .section .text.cold; js 1b; .text",
        "mov bpl, 0",
    ],
)
def test_numbers_are_unknown_where_other_code_may_lead(before: str, tmp_path: Path) -> None:
    found = stores_behind(tmp_path, "mov [rax+rbp*8], rbx", before)
    assert found.stores == ()


def test_addresses_in_the_image(tmp_path: Path) -> None:
    lines = "lea rcx, [rip+data]; mov [rax], rcx; mov edx, [rip+data+4]; mov [rax+8], edx"
    found = stores_behind(tmp_path, lines)
    (address,) = value_at(found, 0, 8) or ()
    assert isinstance(address, Image)
    assert value_at(found, 8, 4) == (Image(address.offset + 4), load(4))
