"""Checks that a plan fits a program: its build-ids against those of the loaded modules."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from halo.base.errors import BadPlan
from halo.binary.elf.digest import digest_of
from halo.plan import Plan
from halo.plan.build_match import check_plan, is_module
from halo.plan.model import SPREAD
from halo.ship.doctor.finding import Finding, fine, listed, note, refusal, refusal_of
from halo.ship.doctor.module import LinkedModule

_WHAT = "plan"
_CACHE_FACTS = ("level", "type", "number_of_sets", "coherency_line_size")


def examine_plan(
    path: Path, program: LinkedModule, libraries: Sequence[LinkedModule], halo: str
) -> Iterator[Finding]:
    """Findings on the modules of the plan that this program loads. `halo`: what starts halo."""
    try:
        plan = check_plan(path, program.path, halo=halo)
    except BadPlan as error:
        yield refusal_of(_WHAT, error, "record the program and plan again")
        return
    if plan.groups:
        yield _match(path, plan, program, libraries)
        yield from _other_code(path, plan, (program, *libraries))
        yield from _other_way(path, plan)
    else:
        yield note(_WHAT, f"{path} has no groups, so nothing will be placed", "plan again")


def _other_code(path: Path, plan: Plan, modules: Sequence[LinkedModule]) -> Iterator[Finding]:
    """A note if the code that the plan has checked is not that of a module with its build-id."""
    known = {checked.build_id: checked.code for checked in plan.checked}
    other = [
        module.name
        for module in modules
        if known.get(module.build_id, 0) not in (0, digest_of(module.path).code)
    ]
    if other:
        yield note(
            _WHAT,
            f"the code of {listed(other)} is not that which {path} has checked, though the build-id"
            " is: all blocks are aligned to 16 bytes",
            "record the program and plan again",
        )


def _other_way(path: Path, plan: Plan) -> Iterator[Finding]:
    """A note if the plan spreads blocks over the sets of another cache than this machine has."""
    here = first_level_way()
    layouts = {group.layout for group in plan.groups} - {SPREAD}
    ways = {layout.way_bytes for layout in layouts if not layout.packed}
    if here is None or not ways - {here}:
        return
    yield note(
        _WHAT,
        f"{path} spreads blocks over cache ways of {max(ways)} bytes, but the first cache of this"
        f" machine has ways of {here} bytes",
        "record the conflicts on this machine, and plan again",
    )


def first_level_way(folder: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> int | None:
    """Bytes of a way of the first data cache: its sets times its lines; None if unknown."""
    for index in sorted(folder.glob("index*")):
        try:
            facts = {name: (index / name).read_text().strip() for name in _CACHE_FACTS}
            if facts["level"] == "1" and facts["type"] != "Instruction":
                return int(facts["number_of_sets"]) * int(facts["coherency_line_size"])
        except (OSError, ValueError):
            continue
    return None


def _match(
    path: Path, plan: Plan, program: LinkedModule, libraries: Sequence[LinkedModule]
) -> Finding:
    loaded = {m.build_id: m for m in reversed((program, *libraries)) if m.build_id}
    named = [(loaded[m.build_id], m) for m in plan.modules if m.build_id in loaded]
    here = [module for module, planned in named if is_module(module.path, planned)]
    later = [
        Path(m.path).name
        for m in plan.modules
        if m.build_id not in loaded and m.path and is_module(Path(m.path), m)
    ]
    unlike = [module.name for module, planned in named if not is_module(module.path, planned)]
    if unlike:
        return note(
            _WHAT,
            f"{listed(unlike)} has the build-id that {path} names, but other content: its"
            " allocations are forwarded",
            "record the program and plan again",
        )
    if later and not here:
        return note(
            _WHAT,
            f"none of the modules that {path} names is loaded at the start; {listed(later)} may"
            " be loaded by dlopen",
            "see with --run whether they do",
        )
    if not plan.modules:
        return fine(_WHAT, f"{path} is for any program")
    if not here:
        return refusal(
            _WHAT,
            f"none of the modules that {path} names belongs to {program.name}: every allocation"
            " would be forwarded",
            _update(path, program),
            BadPlan,
        )
    if len(plan.modules) > 1 and all(module.is_c_library for module in here):
        return note(
            _WHAT,
            f"of the modules that {path} names, only the C library's call sites are there",
            _update(path, program),
        )
    return fine(
        _WHAT,
        f"{len(here)} of {len(plan.modules)} modules that it names are loaded:"
        f" {listed([module.name for module in here])}"
        f"{f'; {listed(later)} may come later' if later else ''}",
    )


def _update(path: Path, program: LinkedModule) -> str:
    return f"halo update {shlex.quote(str(path))} --for {shlex.quote(str(program.path))}"
