"""Files and addresses of which little is known give little, and no failures."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from halo.elf.image import ElfError, ElfImage
from halo.locations import BirthStores, Frame, Load, Register, birth_stores, value_at
from support.call_sites import assemble, build, sites_of

SOURCE = """
#include <stdlib.h>
struct node { long key; double x, y; struct node *next; };
struct node *make(long key, double x, double y, struct node **list) {
  struct node *made = malloc(sizeof *made);
  made->key = key;
  made->x = x;
  made->y = y;
  made->next = list[1];
  return made;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("code") / "code.so"
    return build("gcc", "c", SOURCE, path, "-O2", "-shared", "-fPIC")


@pytest.mark.parametrize("address", [-1, 0, 1 << 20, 1 << 63, 1 << 70])
def test_addresses_outside_the_code(library: Path, address: int) -> None:
    assert birth_stores(ElfImage(library), address) == BirthStores((), 0, False, "no valid code")


def test_an_address_that_no_call_returns_to(library: Path) -> None:
    (site,) = sites_of(library)
    for address in range(site - 20, site + 20):
        assert birth_stores(ElfImage(library), address).reason


def without_frames(library: Path, copy: Path) -> Path:
    command = ["objcopy", "-R", ".eh_frame", "-R", ".eh_frame_hdr", str(library), str(copy)]
    subprocess.run(command, check=True, capture_output=True)
    return copy


def test_without_frame_records_slots_are_unknown(library: Path, tmp_path: Path) -> None:
    (site,) = sites_of(library)
    assert value_at(birth_stores(ElfImage(library), site), 8, 8) is not None
    found = birth_stores(ElfImage(without_frames(library, tmp_path / "copy.so")), site)
    assert found.frame_bytes == 0
    assert value_at(found, 8, 8) is None
    (key,) = value_at(found, 0, 8) or ()
    table, load = value_at(found, 24, 8) or ()
    assert isinstance(key, Register)
    assert isinstance(table, Register)
    assert load == Load(8, False, 8)


def test_without_frame_records_a_store_to_the_stack_ends_loads(tmp_path: Path) -> None:
    """The runtime could not tell that a pointer leads to that slot."""
    lines = "call malloc@PLT; mov rcx, [rbx]; mov [rsp+8], rdx; mov rsi, [r12]; mov [rax], rcx"
    program = assemble(tmp_path, f"{lines}; mov [rax+8], rsi; mov rdi, [rsp+8]; ret")
    (site,) = sites_of(program)
    found = birth_stores(ElfImage(without_frames(program, tmp_path / "copy.so")), site)
    assert value_at(found, 0, 8) == (Register(0), Load(8, False, 0))
    assert value_at(found, 8, 8) is None


@pytest.mark.parametrize("expression", [".cfi_def_cfa r10, 0", ".cfi_escape 0x0f, 1, 0x9c"])
def test_frames_by_other_registers_are_unknown(expression: str, tmp_path: Path) -> None:
    lines = f"{expression}; call malloc@PLT; mov rcx, [rsp]; mov [rax], rcx; mov [rax+8], rbx; ret"
    program = assemble(tmp_path, lines)
    (site,) = sites_of(program)
    found = birth_stores(ElfImage(program), site)
    assert (found.frame_bytes, value_at(found, 0, 8)) == (0, None)
    assert value_at(found, 8, 8) == (Register(0),)


def test_damaged_files(library: Path, tmp_path: Path) -> None:
    """Code and frame records are overwritten at random."""
    (site,) = sites_of(library)
    whole = library.read_bytes()
    draw = random.Random(1)
    for number in range(300):
        damaged = bytearray(whole)
        for _ in range(draw.choice((1, 10, 200))):
            damaged[draw.randrange(64, len(damaged))] = draw.randrange(256)
        path = tmp_path / f"{number}.so"
        path.write_bytes(damaged)
        try:
            image = ElfImage(path)
        except ElfError:
            continue
        found = birth_stores(image, site)
        assert found.reason
        assert found.frame_bytes >= 0
        for store in found.stores:
            for operation in store.program or ():
                assert not isinstance(operation, Frame) or operation.offset < found.frame_bytes


def test_random_code(tmp_path: Path) -> None:
    draw = random.Random(2)
    for number in range(150):
        folder = tmp_path / str(number)
        folder.mkdir()
        text = ",".join(str(draw.randrange(256)) for _ in range(64))
        program = assemble(folder, f"call malloc@PLT; .byte {text}")
        site = int(ElfImage(program).section(".text").address) + 5  # type: ignore[union-attr]
        assert birth_stores(ElfImage(program), site).reason
