"""The rules of several call sites, by plans that are written here."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from halo.elf.build_id import build_id_of
from halo.plan.files import write_plan
from halo.plan.hints.layout import HINT_CODE_PUSH_REGISTER
from halo.plan.hints.rules import ITSELF, HintKey, HintOperation, HintRule
from halo.plan.layout import VERDICT_FORWARD
from halo.plan.model import Plan, PlanModule, State
from support.command import halo

# Calls whose return addresses are equal in their low 12 bits, and one that has no rule. Blocks of
# the same key are freed and allocated again.
PROGRAM = r"""
#include <stdlib.h>
void *first(size_t), *second(size_t), *other(size_t);
#define FUNCTION(name)                                                             \
  __asm__(".p2align 12\n" #name ": push %rbx\n mov $5, %ebx\n call malloc@PLT\n" \
          #name "_call: pop %rbx\n ret\n")
FUNCTION(first);
FUNCTION(second);
FUNCTION(other);
int main(void) {
  void* (*const functions[])(size_t) = {first, second, other};
  for (int round = 0; round < 300; ++round) {
    char* const p = functions[round % 3](round < 200 ? 40 : 48);
    if (p == NULL) return 1;
    p[0] = p[39] = 1;
    free(p);
  }
  return 0;
}
"""


def test_rules_of_call_sites_at_the_same_place_of_a_page(tmp_path: Path) -> None:
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(PROGRAM)
    subprocess.run(["gcc", "-O2", "-o", program, source], check=True)
    with program.open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(symbols, SymbolTableSection)
        found = [symbols.get_symbol_by_name(f"{it}_call") or [] for it in ("first", "second")]
    sites = [int(one["st_value"]) for [one] in found]
    assert sites[0] % 4096 == sites[1] % 4096
    key = HintKey(1.0, "u64", ITSELF, (HintOperation(HINT_CODE_PUSH_REGISTER, 0, 0),))
    write_plan(
        Plan(
            modules=(PlanModule(build_id_of(program)),),
            groups=(),
            states=(State(0, 0, 0, 0, 0, VERDICT_FORWARD, 0, 0),),
            max_object=4096,
            huge_pages=False,
            executable=0,
            hints=tuple(HintRule(0, at, 40, 16, 0, (key,)) for at in sorted(sites)),
        ),
        tmp_path / "app.plan",
    )
    command = ("exec", "--plan", "app.plan", "--", "./program")
    done = halo(*command, cwd=tmp_path, env={"HALO_STATS": "stats.json"})
    assert (done.status, done.stderr) == (0, "")
    # Of 200 objects of 40 bytes, a third has no rule; nor have those of another size.
    assert json.loads((tmp_path / "stats.json").read_text())["hinted"] == 134
