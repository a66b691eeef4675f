"""Measures a pair of malloc and free of 32 bytes at a call site with a rule for hints.

hinted_pairs.py [--trials N]   in nanoseconds: without a plan, in a group, and by values

The rules have one key in a register, one behind a pointer, or two behind it. The value is always
the same, or drawn for each object among 64 or 4096, beside a million objects. Runs are interleaved,
in fresh processes; the first round is dropped. Ends with status 1 if a pair by one value takes more
than 5 ns more than one in the group.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from interleaved import Configuration, interleave

from halo.elf.build_id import build_id_of
from halo.plan.files import write_plan
from halo.plan.hints.layout import HINT_CODE_LOAD, HINT_CODE_PUSH_REGISTER
from halo.plan.hints.rules import ITSELF, HintKey, HintOperation, HintRule
from halo.plan.layout import REUSE_NEWEST_FIRST, RULE_END, VERDICT_FORWARD
from halo.plan.model import Plan, PlanGroup, PlanModule, State
from halo.process.allocators import find_allocator, preload, under_plan
from halo.settings import Settings, read_settings

MAX_MORE_NS = 5.0
BYTES = 32
FRAME_BYTES = 32  # of allocate_by, in the measured program
RBX, R12 = 0, 2  # as HINT_CODE_PUSH_REGISTER numbers them
CASES = ((1, 1), (64, 1_000_000), (4096, 1_000_000))
"""Keys, and objects beside the pair."""

KEY = HintKey(1.0, "u64", ITSELF, (HintOperation(HINT_CODE_PUSH_REGISTER, RBX, 0),))
DIGITS = tuple(
    HintKey(
        1.0,
        "f64",
        ITSELF,
        (HintOperation(HINT_CODE_PUSH_REGISTER, R12, 0), HintOperation(HINT_CODE_LOAD, 8, at)),
    )
    for at in (0, 8)
)
RULES = {"register": (KEY,), "load": DIGITS[:1], "two loads": DIGITS}


def return_address(program: Path) -> int:
    """Of the measured call, from the load bias."""
    with program.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        [found] = table.get_symbol_by_name("hinted_call") or []
        return int(found["st_value"])


def plan_of(program: Path, keys: tuple[HintKey, ...]) -> Plan:
    """With a rule of these keys for the call; without keys, with a group for it."""
    at = return_address(program)
    root = State(0, 0, 0, 0, 0, VERDICT_FORWARD, 0, 0)
    member = State(0, 0, at, 0, RULE_END, 0, 0, 0)
    return Plan(
        modules=(PlanModule(build_id_of(program)),),
        groups=() if keys else (PlanGroup(False, REUSE_NEWEST_FIRST),),
        states=(root,) if keys else (root, member),
        max_object=4096,
        huge_pages=False,
        executable=0,
        hints=(HintRule(0, at, BYTES, FRAME_BYTES, 0, keys),) if keys else (),
    )


def environments(settings: Settings, program: Path, folder: Path) -> dict[str, Mapping[str, str]]:
    """By what serves the call."""
    glibc = find_allocator("glibc")
    found: dict[str, Mapping[str, str]] = {
        "no plan": preload(settings.environment, [glibc.library])
    }
    for label, keys in {"group": (), **RULES}.items():
        path = folder / f"{label}.plan"
        write_plan(plan_of(program, keys), path)
        found[label] = under_plan(settings.environment, settings.runtime, path, glibc)
    return found


def measure(settings: Settings, trials: int) -> bool:
    """Prints a line for each case; whether the threshold is met."""
    program = settings.build / "bench" / "hinted-pair"
    met = True
    with tempfile.TemporaryDirectory() as folder:
        served = environments(settings, program, Path(folder))
        for keys, objects in CASES:
            command: list[str | Path] = [program, str(keys), str(objects)]
            configs = [Configuration(label, command, it) for label, it in served.items()]
            times: dict[str, list[float]] = {label: [] for label in served}
            for trial, label, _, output in interleave(configs, trials):
                if trial:
                    times[label].append(float(output))
            middles = {label: statistics.median(values) for label, values in times.items()}
            shown = (
                f"{label} {middles[label]:.1f} ({min(values):.1f}-{max(values):.1f})"
                for label, values in times.items()
            )
            print(f"{keys} keys: " + ", ".join(shown), flush=True)
            if keys == 1:
                met = all(middles[it] <= middles["group"] + MAX_MORE_NS for it in RULES)
    return met


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=7)
    return 0 if measure(read_settings(), parser.parse_args().trials) else 1


if __name__ == "__main__":
    sys.exit(main())
