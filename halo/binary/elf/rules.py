"""Frame rules: the distance to the next return address, by the CFA rule in force at a call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from pathlib import Path

from halo.binary.elf.cfa import RBP, RSP, CallFrameRow
from halo.binary.elf.frames import FrameTable
from halo.binary.elf.image import ElfError, ElfImage

_WORD = 8
_FARTHEST = 2**31 - 1
_FARTHEST_SAVE = 2**15 - 1


class RuleKind(Enum):
    """The kind of step from one return address to the next; numbers of docs/plan-format.md."""

    NONE = 0
    CONSTANT = 1
    FRAME_POINTER = 2


@dataclass(frozen=True)
class FrameRule:
    """The step from one return address's stack slot to the next.

    `step` is in bytes: for `CONSTANT` the distance from slot to slot; for `FRAME_POINTER` the next
    slot is at `rbp + step`. `rbp_saved_below` is the number of bytes from the *next* slot down to
    the caller's saved `rbp`; None if the function has not changed it. `rbp_lost`: the function has
    changed it, and the place of the old value is unknown.
    """

    kind: RuleKind
    step: int = 0
    rbp_saved_below: int | None = None
    rbp_lost: bool = False


NO_RULE = FrameRule(RuleKind.NONE, rbp_lost=True)


def rule_of_row(row: CallFrameRow | None) -> FrameRule:
    """The rule of a row. With `CFA = rsp + n` at the call the distance is n.

    The call pushes the return address, so rsp at the call is slot + 8 and the CFA is slot + 8 + n;
    the caller's return address is right below the CFA, at slot + n. With `CFA = rbp + n` it is at
    rbp + n - 8. A return address that is not right below the CFA ends the walk.
    """
    if row is None or row.cfa_register is None or row.return_address != ("offset", -_WORD):
        return NO_RULE
    if row.cfa_register == RSP:
        kind, step = RuleKind.CONSTANT, row.cfa_offset
        valid = _WORD <= step <= _FARTHEST and step % _WORD == 0
    elif row.cfa_register == RBP:
        kind, step = RuleKind.FRAME_POINTER, row.cfa_offset - _WORD
        valid = abs(step) <= _FARTHEST and step % _WORD == 0
    else:
        return NO_RULE
    if not valid:
        return NO_RULE
    if row.rbp.how == "same":
        return FrameRule(kind, step)
    below = -_WORD - row.rbp.offset
    if row.rbp.how == "lost" or not 0 < below <= _FARTHEST_SAVE or below % _WORD:
        return FrameRule(kind, step, rbp_lost=True)
    return FrameRule(kind, step, rbp_saved_below=below)


@lru_cache(maxsize=256)
def _table(path: str) -> FrameTable | None:
    try:
        return FrameTable(ElfImage(path))
    except ElfError:
        return None


def frame_rule(module_path: str | Path, offset: int) -> FrameRule:
    """The rule of a call site, named by its return address (an ELF virtual address).

    The look-up is of return address - 1, so a call that ends a function still belongs to it. An
    `rbp` whose recorded place is outside the frame, below the stack pointer, is lost. A file that
    has no call-frame records or cannot be read has no rules (`RuleKind.NONE`).
    """
    table = _table(str(module_path))
    rule = NO_RULE if table is None else rule_of_row(table.row_at(offset - 1))
    below = rule.rbp_saved_below or 0
    if rule.kind is RuleKind.CONSTANT and below >= rule.step:
        return replace(rule, rbp_saved_below=None, rbp_lost=True)
    return rule


@dataclass(frozen=True)
class FrameSurvey:
    """The number of functions of a module by the kind of their hardest row."""

    functions: int
    constant: int
    frame_pointer: int
    none: int


def survey(module_path: str | Path) -> FrameSurvey:
    """Counts functions by their hardest row: stack pointer only, frame pointer, anything else."""
    counts = dict.fromkeys(RuleKind, 0)
    for rows in FrameTable(ElfImage(module_path)).functions():
        kinds = {rule_of_row(row).kind for _, row in rows}
        if RuleKind.NONE in kinds:
            counts[RuleKind.NONE] += 1
        elif RuleKind.FRAME_POINTER in kinds:
            counts[RuleKind.FRAME_POINTER] += 1
        else:
            counts[RuleKind.CONSTANT] += 1
    return FrameSurvey(
        sum(counts.values()),
        counts[RuleKind.CONSTANT],
        counts[RuleKind.FRAME_POINTER],
        counts[RuleKind.NONE],
    )
