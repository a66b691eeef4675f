"""Call sites that can be redirected are found in real code, and nothing else is taken for one."""

from __future__ import annotations

from pathlib import Path

from halo.binary.elf import ElfImage, why_not_redirected
from support.command import compile_c

CALLS = r"""
#include <stdlib.h>
__attribute__((noinline)) static int helper(int x) { return x * 3; }
int (*volatile pointer)(int) = helper;
int main(int argc, char **argv) {
  int sum = helper(argc) + 1;
  sum += pointer(argc) + 2;
  void *p = malloc(sum);
  return p == argv;
}
"""


def test_direct_calls_and_no_others(tmp_path: Path) -> None:
    """Every return address of main, by the disassembly that objdump shows."""
    program = compile_c(CALLS, tmp_path / "calls", "-fno-plt", "-Wl,-z,norelro")
    with_plt = compile_c(CALLS, tmp_path / "with-plt")
    for path, expected in ((program, {"direct": 1}), (with_plt, {"direct": 2})):
        found = [why_not_redirected(str(path), at) for at in return_addresses(path)]
        assert found.count("") == expected["direct"]
        assert found.count("not a direct call") == len(found) - expected["direct"] > 0


def return_addresses(path: Path) -> list[int]:
    import re
    import subprocess

    shown = subprocess.run(
        ["objdump", "-d", "--disassemble=main", str(path)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    lines = re.findall(r"^ +([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t?(\S*)", shown, re.M)
    return [int(at, 16) + len(code.split()) for at, code, name in lines if name == "call"]


def test_what_is_not_a_code_is_not_redirected(tmp_path: Path) -> None:
    program = compile_c(CALLS, tmp_path / "calls")
    assert why_not_redirected(str(tmp_path / "missing"), 4096) == "no file"
    assert why_not_redirected(str(program), 5) == "not in the file's code"
    assert why_not_redirected(str(program), 1 << 40) == "not in the file's code"
    code = next(s for s in ElfImage(program).segments if s.kind == 1 and s.flags & 1)
    assert why_not_redirected(str(program), code.address) == "not in the file's code"
