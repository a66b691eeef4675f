"""Measures a pair of malloc and free of 128 KiB in a group with spans, and what its class costs.

span_pairs.py [--trials N]   in nanoseconds: without a plan, open, confined, and watched

The watch's prediction is the group's class, which each allocation reads (NightWatch, section 5.2).
Runs are interleaved, in fresh processes; the first round is dropped. Ends with status 1 if a
confined pair takes more than 3 ns more than an open one.
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

from halo.base.settings import Settings, read_settings
from halo.binary.elf.build_id import build_id_of
from halo.binary.process.allocators import find_allocator, preload, under_plan
from halo.binary.process.watch import Watch
from halo.plan.files import write_plan
from halo.plan.layout import MIN_RING, REUSE_NEWEST_FIRST, RULE_END, VERDICT_FORWARD
from halo.plan.model import Plan, PlanGroup, PlanModule, Spans, State

MAX_MORE_NS = 3.0
BYTES = 128 << 10
OPEN, CONFINED, WATCHED = "open", "confined", "watched"


def return_address(program: Path) -> int:
    """Of the measured call, from the load bias."""
    with program.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        [found] = table.get_symbol_by_name("measured_call") or []
        return int(found["st_value"])


def plan_of(program: Path, spans: Spans) -> Plan:
    """With a group for the call."""
    root = State(0, 0, 0, 0, 0, VERDICT_FORWARD, 0, 0)
    member = State(0, 0, return_address(program), 0, RULE_END, 0, 0, 0)
    return Plan(
        modules=(PlanModule(build_id_of(program)),),
        groups=(PlanGroup(False, REUSE_NEWEST_FIRST, spans=spans),),
        states=(root, member),
        max_object=4096,
        huge_pages=False,
        executable=0,
    )


def environments(settings: Settings, program: Path, folder: Path) -> dict[str, Mapping[str, str]]:
    glibc = find_allocator("glibc")
    found: dict[str, Mapping[str, str]] = {
        "no plan": preload(settings.environment, [glibc.library])
    }
    for label, spans in ((OPEN, Spans()), (CONFINED, Spans(2 * MIN_RING, True))):
        path = folder / f"{label}.plan"
        write_plan(plan_of(program, spans), path)
        found[label] = under_plan(settings.environment, settings.runtime, path, glibc)
    watched = under_plan(
        settings.environment, settings.runtime, folder / f"{OPEN}.plan", glibc, settings.watch
    )
    found[WATCHED] = {**watched, **Watch(cache=8 << 20).variables()}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=11)
    settings = read_settings()
    program = settings.build / "bench" / "site-pair"
    command: list[str | Path] = [program, str(BYTES)]
    with tempfile.TemporaryDirectory(prefix="halo-spans-") as folder:
        served = environments(settings, program, Path(folder))
        configs = [Configuration(label, command, it) for label, it in served.items()]
        times: dict[str, list[float]] = {label: [] for label in served}
        for trial, label, _, output in interleave(configs, parser.parse_args().trials):
            if trial:
                times[label].append(float(output))
    for label, values in times.items():
        middle = statistics.median(values)
        print(f"{label}: {middle:.1f} ns ({min(values):.1f}-{max(values):.1f})")
    more = statistics.median(times[CONFINED]) - statistics.median(times[OPEN])
    return int(more > MAX_MORE_NS)


if __name__ == "__main__":
    sys.exit(main())
