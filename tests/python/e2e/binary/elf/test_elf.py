"""Frame rules agree with readelf and with real stacks; build-ids and names agree with binutils."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import time
from pathlib import Path

import pytest

from halo.binary.elf import (
    ElfError,
    ElfImage,
    FrameRule,
    RuleKind,
    build_id_of,
    frame_rule,
    survey,
    symbolize,
)
from halo.binary.elf.frames import FrameTable
from halo.binary.elf.rules import rule_of_row

LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
TARGETS = [
    Path("/usr/bin/jq"),
    Path("/usr/bin/python3").resolve(),
    Path("/usr/bin/povray"),
    LIBRARIES / "libxml2.so.2",
    LIBRARIES / "libstdc++.so.6",
    LIBRARIES / "libc.so.6",
]


def compile_c(folder: Path, source: str, *flags: str) -> Path:
    program = folder / "program"
    (folder / "program.c").write_text(source)
    subprocess.run(
        ["gcc", *flags, "-o", str(program), str(folder / "program.c")], check=True, cwd=folder
    )
    return program


# readelf is the independent reference.


def rows_by_readelf(path: Path) -> dict[int, tuple[str, str, str]]:
    """From first address to (CFA, rbp, return address) as readelf prints them; FDEs only."""
    command = ["readelf", "--debug-dump=frames-interp", "-wN", str(path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows: dict[int, tuple[str, str, str]] = {}
    columns: list[str] = []
    in_fde = False
    for line in text.splitlines():
        words = re.sub(r" \(\w+\)", "", line).split()  # "r10 (r10)" is one column
        if re.match(r"[0-9a-f]{8,} [0-9a-f]{8,}", line):
            in_fde = "FDE" in words
            columns = []
            bounds = re.search(r"pc=([0-9a-f]+)\.\.([0-9a-f]+)", line)
            if in_fde and bounds and bounds[1] == bounds[2]:
                in_fde = False
        elif words[:2] == ["LOC", "CFA"]:
            columns = words[2:]
        elif in_fde and words and re.fullmatch(r"[0-9a-f]{16}", words[0]):
            values = dict(zip(columns, words[2:], strict=True))
            rows[int(words[0], 16)] = (words[1], values.get("rbp", "u"), values.get("ra", "u"))
    return rows


def rule_by_readelf(cfa: str, rbp: str, ra: str) -> FrameRule:
    found = re.fullmatch(r"(rsp|rbp)\+(\d+)", cfa)
    if not found or ra != "c-8":
        return FrameRule(RuleKind.NONE, rbp_lost=True)
    number = int(found[2])
    kind = RuleKind.CONSTANT if found[1] == "rsp" else RuleKind.FRAME_POINTER
    step = number if kind is RuleKind.CONSTANT else number - 8
    if rbp in ("u", "s"):
        return FrameRule(kind, step)
    saved = re.fullmatch(r"c-(\d+)", rbp)
    if not saved:
        return FrameRule(kind, step, rbp_lost=True)
    return FrameRule(kind, step, rbp_saved_below=int(saved[1]) - 8)


@pytest.mark.parametrize("path", TARGETS, ids=lambda path: path.name)
def test_every_row_agrees_with_readelf(path: Path) -> None:
    expected = rows_by_readelf(path)
    assert expected
    table = FrameTable(ElfImage(path))
    wrong = []
    for start, row in expected.items():
        fde = table.find(start)
        if fde is None or fde.cie.signal_frame:
            continue
        ours, theirs = rule_of_row(table.row_at(start)), rule_by_readelf(*row)
        if ours != theirs and (ours.kind, theirs.kind) != (RuleKind.NONE, RuleKind.NONE):
            wrong.append((hex(start), row, ours))
    assert wrong == []
    assert sum(table.find(start) is not None for start in expected) > 0.99 * len(expected)


@pytest.mark.parametrize("path", TARGETS[1:], ids=lambda path: path.name)
def test_nearly_all_functions_have_constant_distances(path: Path) -> None:
    found = survey(path)
    assert found.functions == found.constant + found.frame_pointer + found.none
    assert found.constant > 0.95 * found.functions
    assert found.none <= 10


def test_large_files_are_not_parsed_whole() -> None:
    large = sorted(LIBRARIES.glob("libLLVM*.so*"))  # clang-format's
    image = ElfImage(large[-1])
    start = time.process_time()
    table = FrameTable(image)
    text = image.section(".text")
    assert text is not None
    for address in range(text.address, text.address + text.size, text.size // 1000):
        table.row_at(address)
    assert len(table) > 50_000
    assert time.process_time() - start < 2


# Real stacks: glibc's backtrace is the independent reference.

STACKS = r"""
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
uint64_t snap_rsp, snap_rbp;
static uint64_t* top;
__attribute__((used)) void dump(void) {
  void* frames[200];
  int count = backtrace(frames, 200), from = 0;
  uint64_t* sp = (uint64_t*)snap_rsp;
  while (from < count && (uint64_t)frames[from] != *sp) from++;
  printf("stack %lx %lx\n", snap_rsp, snap_rbp);
  for (; from < count; from++) {
    Dl_info info;
    memset(&info, 0, sizeof info);
    dladdr(frames[from], &info);
    printf("frame %lx %lx %s\n", (uint64_t)frames[from], (uint64_t)info.dli_fbase, info.dli_fname);
  }
  for (uint64_t* at = sp; at < top; at++) printf("word %lx %lx\n", (uint64_t)at, *at);
  exit(0);
}
void snap(void);
__asm__(
  ".text\n.globl snap\n.type snap,@function\nsnap:\n.cfi_startproc\n"
  "mov %rsp, snap_rsp(%rip)\nmov %rbp, snap_rbp(%rip)\nsub $8, %rsp\n.cfi_def_cfa_offset 16\n"
  "call dump\nhlt\n.cfi_endproc\n");
#define N __attribute__((noinline, noclone))
volatile int sink;
N int leaf(int depth) { snap(); return sink; }
N int plain(int depth) { volatile char room[100]; room[depth] = 1; return leaf(depth) + room[3]; }
N int on_heap(int depth) {  // alloca: only the frame pointer knows the size of this frame
  volatile char* room = alloca(64 + 16 * depth);
  room[0] = 1;
  int found = depth ? on_heap(depth - 1) : plain(1);
  return found + room[0];
}
N int many_registers(int a, int b, int c, int d, int e) {
  int x = a * b, y = c * d, z = e * a, w = b * c, v = d * e, u = a + sink;
  int found = on_heap(3);
  return found + x * y + z * w + v * u;
}
N int compare(const void* a, const void* b) { return many_registers(1, 2, 3, 4, 5); }
N int recurse(int depth) {
  int numbers[2] = {2, 1};
  if (depth) return recurse(depth - 1) + 1;
  qsort(numbers, 2, sizeof *numbers, compare);
  return numbers[0];
}
int main(void) {
  top = (uint64_t*)__builtin_frame_address(0) + 40;
  printf("%d", recurse(4));
}
"""


@pytest.mark.parametrize("flags", [("-O2",), ("-O0",), ("-O2", "-fno-omit-frame-pointer")], ids=str)
def test_rules_lead_through_a_real_stack(tmp_path: Path, flags: tuple[str, ...]) -> None:
    program = compile_c(tmp_path, STACKS, *flags, "-fno-optimize-sibling-calls", "-rdynamic", "-g")
    lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split("\n")
    rows = [line.split() for line in lines if line]
    memory = {int(row[1], 16): int(row[2], 16) for row in rows if row[0] == "word"}
    frames = [(int(row[1], 16), int(row[2], 16), row[3]) for row in rows if row[0] == "frame"]
    (slot, rbp), *_ = [(int(row[1], 16), int(row[2], 16)) for row in rows if row[0] == "stack"]
    kinds = []
    names: list[str] = []
    for address, base, path in frames:
        assert memory[slot] == address, f"after {names}"
        names.append(symbolize(path, [address - base])[address - base].function)
        if names[-1] == "main":
            break
        rule = frame_rule(path, address - base)
        assert rule.kind is not RuleKind.NONE
        kinds.append(rule.kind)
        next_slot = slot + rule.step if rule.kind is RuleKind.CONSTANT else rbp + rule.step
        if rule.rbp_saved_below is not None:
            rbp = memory[next_slot - rule.rbp_saved_below]
        slot = next_slot
    assert names[0] == "leaf"
    assert names.count("on_heap") == 4
    assert names[-1] == "main"
    assert RuleKind.FRAME_POINTER in kinds
    assert flags != ("-O2",) or RuleKind.CONSTANT in kinds


def test_a_program_without_eh_frame_is_read_by_debug_frame(tmp_path: Path) -> None:
    source = "int f(int);\nint g(int x) { volatile char r[64]; r[0] = 1; return f(x) + r[0]; }\n"
    source += "int f(int x) { return x; }\nint main(void) { return g(0); }\n"
    both = compile_c(tmp_path, source, "-O1", "-g", "-fno-inline")
    flags = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-inline", "-g", "-O1"]
    only = tmp_path / "only"
    subprocess.run(["gcc", *flags, "-o", only, tmp_path / "program.c"], check=True)
    subprocess.run(["strip", "-R", ".eh_frame", "-R", ".eh_frame_hdr", "-d", both], check=True)
    stripped = tmp_path / "no_eh"
    subprocess.run(
        ["objcopy", "-R", ".eh_frame", "-R", ".eh_frame_hdr", only, stripped], check=True
    )
    # objcopy keeps the program header; a broken one must not matter either
    address = symbol_address(stripped, "g")
    assert frame_rule(stripped, address + 1).kind is RuleKind.CONSTANT
    assert frame_rule(both, symbol_address(only, "g") + 1).kind is RuleKind.NONE


def symbol_address(path: Path, name: str) -> int:
    text = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    return next(int(line[:16], 16) for line in text.splitlines() if line.endswith(f" {name}"))


def test_addresses_outside_functions_have_no_rule() -> None:
    path = LIBRARIES / "libc.so.6"
    image = ElfImage(path)
    plt = image.section(".plt")
    assert plt is not None
    assert frame_rule(path, plt.address + 20).kind is RuleKind.NONE  # an expression
    assert frame_rule(path, 1).kind is RuleKind.NONE
    assert frame_rule(path, 2**40).kind is RuleKind.NONE


def test_files_that_are_not_elf_have_no_rules(tmp_path: Path) -> None:
    for content in (b"", b"#!/bin/sh\n", b"\x7fELF\x02\x01", b"\x7fELF\x02\x01" + bytes(60)):
        path = tmp_path / f"x{len(content)}"
        path.write_bytes(content)
        assert frame_rule(path, 100).kind is RuleKind.NONE
        assert build_id_of(path) == ""
        assert str(symbolize(path, [100])[100]) == f"{path.name}+0x64"
    with pytest.raises(ElfError, match="cannot be read"):
        ElfImage(tmp_path / "none")
    with pytest.raises(ElfError, match="not a 64-bit"):
        ElfImage(tmp_path / "x10")


def test_damaged_files_never_raise(tmp_path: Path) -> None:
    whole = TARGETS[0].read_bytes()
    path = tmp_path / "damaged"
    for at in range(0, len(whole), len(whole) // 60):
        path.write_bytes(whole[:at] + os.urandom(64) + whole[at + 64 :])
        try:
            table = FrameTable(ElfImage(path))
        except ElfError:
            continue
        for address in range(0x2000, 0x6000, 97):
            table.row_at(address)
        build_id_of(path)
        symbolize(path, [0x2100])


@pytest.mark.parametrize("path", TARGETS, ids=lambda path: path.name)
def test_build_ids_agree_with_readelf(path: Path) -> None:
    command = ["readelf", "-n", str(path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert build_id_of(path) in text
    assert len(build_id_of(path)) == 40


def test_names_come_with_file_and_line(tmp_path: Path) -> None:
    source = "__attribute__((noinline)) int f(int x) { return x; }\n"
    source += "static inline int within(int x) { return f(x) + 1; }\n"
    source += (
        "int outer(int x) {\n  return within(x) * 2;\n}\nint main(void) { return outer(0); }\n"
    )
    program = compile_c(tmp_path, source, "-O1", "-g", "-fno-ipa-icf", "-fno-ipa-cp")
    start = symbol_address(program, "outer")
    code = ElfImage(program).data
    offset = ElfImage(program).file_offset(start)
    call = code.find(b"\xe8", offset) - offset + start
    location = symbolize(program, [call + 5])[call + 5]
    assert location.function == "within"
    assert location.inlined_into == ("outer",)
    assert location.source.endswith("program.c:2")
    assert str(location).startswith("within at ")
    subprocess.run(["strip", "-g", program], check=True)
    assert str(symbolize(program, [call + 5])[call + 5]) == f"outer+{call + 5 - start:#x}"
    subprocess.run(["strip", program], check=True)
    assert str(symbolize(program, [call + 5])[call + 5]).startswith(("program+0x", "outer+"))


def test_names_are_of_the_call_not_of_what_follows() -> None:
    """A call that never returns can be a function's last instruction."""
    path = LIBRARIES / "libc.so.6"
    data = subprocess.run(["nm", "-D", "-S", path], capture_output=True, text=True, check=True)
    line = next(it for it in data.stdout.splitlines() if re.search(r" T abort(@|$)", it))
    start, size = (int(word, 16) for word in line.split()[:2])
    end = start + size
    assert str(symbolize(path, [end])[end]).removeprefix("__GI_").startswith("abort")


def test_struct_of_the_search_table() -> None:
    """The look-up relies on 8-byte entries of two signed 32-bit numbers."""
    assert struct.calcsize("<ii") == 8
