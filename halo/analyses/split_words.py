"""What was found of a class, in sentences."""

from __future__ import annotations

from halo.analyses.split import ClassSplit, SplitResult
from halo.analyses.split_layout import per_line
from halo.analyses.split_rules import (
    AGGRESSIVE,
    CONSERVATIVE,
    FEWEST_FIELDS,
    LIVE_SHARE,
    POINTER,
    SMALLEST_CLASS,
    Finding,
)
from halo.analyses.split_types import bare


def findings(result: SplitResult, shown: list[ClassSplit]) -> list[str]:
    """A sentence or more for each class that is split; one where there is none."""
    if not result.classes:
        return [
            "No access to a field of a class was traced: the program accesses none, it was built"
            " without -g, or a filter left them out."
        ]
    split = [it for it in shown if it.decision.split]
    if not split:
        live = sum(it.decision.live for it in shown)
        return [f"No class should be split: of {live} live ones none has enough cold fields."]
    return [
        sentence
        for it in split
        for sentence in (gain(it), alternative(it), caution(it, result))
        if sentence
    ]


def gain(found: ClassSplit) -> str:
    """What splitting this class buys, and costs."""
    assert found.parts is not None
    size, parts, total = found.use.declared.bytes, found.parts, found.use.total
    cold, fields = sum(found.decision.cold), len(found.use.leaves)
    return (
        f"Split {found.label}: {cold} of its {fields} fields are cold; {size} bytes become"
        f" {parts.hot_bytes}, so that {per_line(parts.hot_bytes):.2g} objects lie in a line instead"
        f" of {per_line(size):.2g}; {found.indirect:,} of {total:,} accesses go through the added"
        " pointer."
    )


def alternative(found: ClassSplit) -> str:
    """What else can be done where all objects lie in arrays; empty where not all do."""
    if not found.arrays.arrays_only:
        return ""
    uses = zip(found.use.leaves, found.use.accesses, strict=True)
    hottest = max(uses, key=lambda use: use[1])[0]
    return (
        f"All {found.label} lie in arrays (of up to {found.arrays.most:,}): a structure of arrays,"
        f" one for {hottest.name} alone, needs no pointer."
    )


def caution(found: ClassSplit, result: SplitResult) -> str:
    """What the counts of the cold fields leave out; empty where that is unlikely to matter."""
    totals = {bare(it.use.declared.name): it.use.total for it in result.classes}
    unseen, apart = [], []
    for member in found.parts.cold if found.parts else ():
        type_ = bare(member.type)
        if totals.get(type_):
            apart.append(f"{member.name} ({totals[type_]:,} to {type_})")
        elif "[" in member.type or member.bytes > POINTER:
            unseen.append(member.name)
    sentences = []
    if apart:
        sentences.append(
            f"Accesses through pointers to {', '.join(apart)} are not among those of {found.label}."
        )
    if unseen:
        sentences.append(
            "What libraries access (strcmp, pthread_mutex_lock) is not seen: look whether they are"
            f" often handed {', '.join(unseen)}."
        )
    return " ".join(sentences)


def reason(found: ClassSplit, result: SplitResult) -> str:
    """Why a class is, or is not, split."""
    return _REASONS[found.decision.finding].format(
        accesses=f"{found.use.total:,}",
        live=_few(result.accesses / (LIVE_SHARE * max(result.accessed, 1))),
        bytes=found.use.declared.bytes,
        file=found.use.declared.file,
        fields=len(found.use.leaves),
        smallest=SMALLEST_CLASS,
        fewest=FEWEST_FIELDS,
        pointer=POINTER,
        least=_few(least(found)),
        marking="aggressively" if found.decision.divisor == AGGRESSIVE else "conservatively",
    )


def least(found: ClassSplit) -> float:
    """The accesses that a field must have to be hot: A / (2 F) or A / (5 F)."""
    divisor = found.decision.divisor or CONSERVATIVE
    return found.use.total / (divisor * max(len(found.use.leaves), 1))


def _few(threshold: float) -> str:
    """A part of an access counts where there are few of them."""
    return f"{threshold:,.0f}" if threshold >= 100 else f"{threshold:.1f}"


_REASONS = {
    Finding.SPLIT: "marked {marking}: a field with less than {least} accesses is cold",
    Finding.NOT_LIVE: "not live: {accesses} accesses, and more than {live} are asked for",
    Finding.TOO_SMALL: "too small: {bytes} bytes, and more than {smallest} are asked for",
    Finding.TOO_FEW_FIELDS: "{fields} fields, and more than {fewest} are asked for",
    Finding.ALL_HOT: "no field has less than {least} accesses",
    Finding.LITTLE_COLD: "its cold fields are not larger than the pointer to them, {pointer} bytes",
    Finding.LIBRARY: "declared in a library's header, {file}",
    Finding.NO_SMALLER: "its {bytes} bytes become no fewer with the pointer to the cold part",
    Finding.TOO_WARM: "its cold fields are too warm, and too few have less than {least} accesses",
}
