"""Structure splitting: which classes to divide into a hot and a cold part, and the gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from halo.studies.tracing.analyses.split.counts import ClassUse
from halo.studies.tracing.analyses.split.layout import Parts, parts_of
from halo.studies.tracing.analyses.split.rules import (
    Decision,
    FieldUse,
    Finding,
    decide_all,
    suffices,
)
from halo.studies.tracing.analyses.split.text import suggest
from halo.studies.tracing.analyses.split.types import UNION, DeclaredClass, bare, is_spelt

CPP_SUFFIXES = (".cc", ".cpp", ".cxx", ".C", ".hh", ".hpp", ".hxx")
SYSTEM = ("/usr/",)
"""Folders of headers whose classes the program cannot change."""
MANY = 16
"""Minimum elements of an allocation that counts as an array."""


@dataclass(frozen=True)
class ArrayUse:
    """The allocations of a class: their number, the minimum and the maximum of elements."""

    allocations: int
    minimum: int
    maximum: int

    @property
    def arrays_only(self) -> bool:
        return self.allocations > 0 and self.minimum >= MANY


@dataclass(frozen=True)
class ClassSplit:
    """The result for a class; it has `parts` and `suggestion` if it is split.

    `label` is its name, with file and line if another class has the same name.
    """

    label: str
    use: ClassUse
    decision: Decision
    arrays: ArrayUse
    parts: Parts | None
    suggestion: str

    @property
    def indirect(self) -> int:
        """Accesses that go through the added pointer."""
        return sum(
            accesses
            for accesses, cold in zip(self.use.accesses, self.decision.cold, strict=True)
            if cold
        )


@dataclass(frozen=True)
class SplitResult:
    """All classes of a trace with an accessed field, by descending accesses."""

    program: str
    accesses: int
    accessed: int
    classes: tuple[ClassSplit, ...]

    def chosen(self, names: str = "*", everything: bool = False) -> list[ClassSplit]:
        """The program's own live classes that a glob matches; `everything`: all that match."""
        return [
            it
            for it in self.classes
            if (everything or (it.decision.live and it.decision.finding is not Finding.LIBRARY))
            and fnmatchcase(it.use.declared.name, names)
        ]


def split_classes(
    program: str, uses: Sequence[ClassUse], arrays: Mapping[str, ArrayUse]
) -> SplitResult:
    """Decides about each class; `arrays` are the allocations by the name of the element type."""
    accessed = [use for use in uses if use.total]
    decisions = decide_all([(use.declared.bytes, _fields(use)) for use in accessed])
    tags = _tags(uses)
    names = [use.declared.name for use in accessed]
    found = []
    for use, decided in zip(accessed, decisions, strict=True):
        declared = use.declared
        decision = _practical(use, _keep_virtual(use, decided))
        name = declared.name or f"nameless {declared.kind}"
        unique = declared.name and names.count(declared.name) == 1
        parts = parts_of(use, decision) if decision.split else None
        found.append(
            ClassSplit(
                label=name if unique else f"{name} ({declared.file}:{declared.line})",
                use=use,
                decision=decision,
                arrays=arrays.get(bare(declared.name), ArrayUse(0, 0, 0)),
                parts=parts,
                suggestion=suggest(use, parts, tags) if parts else "",
            )
        )
    return SplitResult(program, sum(use.total for use in uses), len(accessed), tuple(found))


def _tags(uses: Sequence[ClassUse]) -> dict[str, str]:
    """The keywords that C requires in front of type names; none for C++."""
    if any(_is_cpp(use.declared) for use in uses):
        return {}
    return {
        bare(use.declared.name): "union" if use.declared.kind == UNION else "struct"
        for use in uses
        if is_spelt(use.declared.name)
    }


def _is_cpp(declared: DeclaredClass) -> bool:
    if declared.kind == "class" or any(mark in declared.name for mark in ("::", "<")):
        return True
    return Path(declared.file).suffix in CPP_SUFFIXES


def _keep_virtual(use: ClassUse, decision: Decision) -> Decision:
    """Marks the pointer to the virtual functions as hot, as it cannot be moved."""
    cold = tuple(
        is_cold and not leaf.virtual
        for leaf, is_cold in zip(use.leaves, decision.cold, strict=True)
    )
    if cold == decision.cold:
        return decision
    finding = decision.finding
    if decision.split and not suffices(_fields(use), cold):
        finding = Finding.LITTLE_COLD
    return Decision(finding, cold, decision.divisor)


def _practical(use: ClassUse, decision: Decision) -> Decision:
    """Rejects a split of a library's class, and one that does not reduce the size."""
    if decision.live and use.declared.file.startswith(SYSTEM):
        return replace(decision, finding=Finding.LIBRARY)
    if decision.split and parts_of(use, decision).hot_bytes >= use.declared.bytes:
        return replace(decision, finding=Finding.NO_SMALLER)
    return decision


def _fields(use: ClassUse) -> list[FieldUse]:
    return [
        FieldUse(leaf.bytes, accesses)
        for leaf, accesses in zip(use.leaves, use.accesses, strict=True)
    ]
