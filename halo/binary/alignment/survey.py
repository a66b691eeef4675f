"""Surveys the alignment that one module's code requires of heap objects."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from iced_x86 import Code, FlowControl, Instruction, Mnemonic, Register

from halo.binary.alignment.callees import Callees
from halo.binary.alignment.demands import demanding_codes, has_memory, unaligned_twin
from halo.binary.alignment.flow import safe_operands
from halo.binary.alignment.functions import Functions, Piece
from halo.binary.alignment.model import Relaxation
from halo.binary.alignment.reach import entry_names
from halo.binary.alignment.string_functions import StringFunctions
from halo.binary.alignment.survey_cache import stored
from halo.binary.elf import build_id_of
from halo.binary.elf.image import ElfImage

_BRANCHES = {
    FlowControl.UNCONDITIONAL_BRANCH,
    FlowControl.CONDITIONAL_BRANCH,
    FlowControl.CALL,
}


@dataclass(frozen=True)
class Survey:
    """The vector operands of one module that may be heap objects.

    `demanding` counts the instructions whose operand has to be aligned; `proved` counts those with
    a proof that it is aligned or not a heap object. `relaxations` are for those with an unaligned
    equivalent; `rigid` describes those without. `names` are the exported names that lead to rigid
    ones; None if they may be entered without a name.
    """

    path: str
    build_id: str
    instructions: int
    demanding: int
    proved: int
    relaxations: tuple[Relaxation, ...]
    rigid: tuple[str, ...]
    names: frozenset[str] | None


def survey_module(path: str | Path) -> Survey:
    """Surveys the ELF file at `path`. Raises `ElfError` if it cannot be read."""
    status = Path(path).stat()
    return _survey(str(path), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=256)
def _survey(path: str, _changed: int, _size: int) -> Survey:
    found = stored(Path(path), Survey, lambda: _compute(path))
    return replace(found, path=path)  # a copy elsewhere has the same survey


def _compute(path: str) -> Survey:
    image = ElfImage(path)
    return _Surveyor(image, Functions(image)).survey()


@dataclass(frozen=True)
class _Suspect:
    """A piece of code with the indices of instructions whose operands may be misaligned."""

    piece: Piece
    code: Sequence[Instruction]
    wanted: Sequence[int]


class _Surveyor:
    def __init__(self, image: ElfImage, functions: Functions) -> None:
        self._image = image
        self._functions = functions
        self._strings = StringFunctions(image, functions, Path(image.path).name)
        self._callees = Callees(functions)
        # Entries into pieces from other code, by jumps, calls and addresses taken; ascending.
        self._jumps: list[int] = []
        self._inner_jumps: list[tuple[int, int]] = []  # from a piece into the middle of another
        self._with_tables: set[int] = set()
        self._tangled: set[int] = set()  # parts of functions whose other part has jump tables

    def survey(self) -> Survey:
        codes = demanding_codes()
        instructions = demanding = proved = 0
        suspects = []
        for piece in self._functions.pieces():
            code = piece.instructions()
            instructions += len(code)
            wanted = [at for at, each in enumerate(code) if each.code in codes and has_memory(each)]
            self._note_jumps(piece, code)
            if any(each.flow_control == FlowControl.INDIRECT_BRANCH for each in code):
                self._with_tables.add(piece.start)
            if wanted:
                demanding += len(wanted)
                suspects.append(_Suspect(piece, code, wanted))
        self._jumps.sort()
        self._find_tangled()
        relaxations: list[Relaxation] = []
        rigid: list[tuple[int, Instruction]] = []
        for suspect in suspects:
            left = self._unproved(suspect)
            proved += len(suspect.wanted) - len(left)
            for at in left:
                relaxation = _relaxation(suspect, at)
                if relaxation is None:
                    rigid.append((suspect.piece.start, suspect.code[at]))
                else:
                    relaxations.append(relaxation)
        names: frozenset[str] | None = frozenset()
        if rigid:
            names = entry_names(self._image, self._functions, {start for start, _ in rigid})
        return Survey(
            self._image.path,
            build_id_of(self._image.path),
            instructions,
            demanding,
            proved,
            tuple(relaxations),
            tuple(f"{each} at {each.ip:#x}" for _, each in rigid),
            names,
        )

    def _note_jumps(self, piece: Piece, code: Sequence[Instruction]) -> None:
        for each in code:
            if each.flow_control in _BRANCHES:
                target = each.near_branch_target
                if each.flow_control == FlowControl.CALL:
                    self._jumps.append(target)
                elif not piece.start < target < piece.end:
                    self._jumps.append(target)
                    self._inner_jumps.append((piece.start, target))
            elif each.mnemonic == Mnemonic.LEA and each.memory_base == Register.RIP:
                self._jumps.append(each.memory_displacement)

    def _find_tangled(self) -> None:
        starts = [start for start, _ in self._functions.spans]
        for source, target in self._inner_jumps:
            at = bisect_right(starts, target) - 1
            if at < 0 or starts[at] == target:
                continue
            if source in self._with_tables:
                self._tangled.add(starts[at])
            if starts[at] in self._with_tables:
                self._tangled.add(source)

    def _unproved(self, suspect: _Suspect) -> list[int]:
        """The indices of the suspect's operands that may be misaligned heap objects."""
        piece = suspect.piece
        if piece.known and self._strings.has(piece, suspect.code):
            return []
        first, last = (bisect_left(self._jumps, at) for at in (piece.start, piece.end))
        safe = safe_operands(
            suspect.code,
            suspect.wanted,
            self._jumps[first:last],
            self._functions.is_frame_pointer,
            self._callees.keep_registers,
            not piece.has_landing_pads and piece.start not in self._tangled,
        )
        return [at for at in suspect.wanted if at not in safe]


def _relaxation(suspect: _Suspect, at: int) -> Relaxation | None:
    """The relaxation; None if there is no equivalent, or if the bytes may be data."""
    piece, instruction = suspect.piece, suspect.code[at]
    if not piece.known or any(each.code == Code.INVALID for each in suspect.code):
        return None
    start = instruction.ip - piece.start
    patch = unaligned_twin(instruction, piece.code[start : start + instruction.len])
    if patch is None:
        return None
    return Relaxation(instruction.ip + patch.at, patch.before, patch.after)
