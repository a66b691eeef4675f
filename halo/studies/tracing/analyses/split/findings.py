"""The findings of structure splitting, as sentences."""

from __future__ import annotations

from halo.studies.tracing.analyses.split.layout import per_line
from halo.studies.tracing.analyses.split.rules import (
    AGGRESSIVE,
    CONSERVATIVE,
    LIVE_SHARE,
    MIN_FIELDS,
    POINTER,
    SMALLEST_CLASS,
    Finding,
)
from halo.studies.tracing.analyses.split.split import ClassSplit, SplitResult
from halo.studies.tracing.analyses.split.types import bare

COLD = "A field is cold if it has fewer than half of the mean accesses of the class's fields."


def findings(result: SplitResult, chosen: list[ClassSplit]) -> list[str]:
    """One or more sentences for each class that is split; one sentence if there is none."""
    if not result.classes:
        return [
            "No access to a field of a class was traced: the program accesses none, it was built"
            " without -g, or a filter left them out."
        ]
    split = [it for it in chosen if it.decision.split]
    if not split:
        live = sum(it.decision.live for it in chosen)
        if not live:
            return ["No class should be split: none has enough accesses."]
        few = "the only live class has not" if live == 1 else f"none of {live} live classes has"
        return [f"No class should be split: {few} enough cold fields. {COLD}"]
    return [
        sentence
        for it in split
        for sentence in (gain(it), alternative(it), caution(it, result))
        if sentence
    ]


def gain(found: ClassSplit) -> str:
    """The gain and the cost of splitting this class."""
    assert found.parts is not None
    size, parts, total = found.use.declared.bytes, found.parts, found.use.total
    cold, fields = sum(found.decision.cold), len(found.use.leaves)
    return (
        f"Split {found.label}: {cold} of its {fields} fields are cold; {size} bytes become"
        f" {parts.hot_bytes}, so that {per_line(parts.hot_bytes):.2g} objects fit in a line instead"
        f" of {per_line(size):.2g}; {found.indirect:,} of {total:,} accesses go through the added"
        " pointer."
    )


def alternative(found: ClassSplit) -> str:
    """The alternative if all objects are in arrays; empty if not all are."""
    if not found.arrays.arrays_only:
        return ""
    uses = zip(found.use.leaves, found.use.accesses, strict=True)
    hottest = max(uses, key=lambda use: use[1])[0]
    return (
        f"All {found.label} are in arrays (of up to {found.arrays.maximum:,}): a structure of"
        f" arrays, one for {hottest.name} alone, needs no pointer."
    )


def caution(found: ClassSplit, result: SplitResult) -> str:
    """Accesses that the counts of the cold fields omit; empty if that is unlikely to matter."""
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
            "Accesses in libraries (strcmp, pthread_mutex_lock) are not traced: check whether the"
            f" program often passes them {', '.join(unseen)}."
        )
    return " ".join(sentences)


def reason(found: ClassSplit, result: SplitResult) -> str:
    """The reason why a class is, or is not, split."""
    return _REASONS[found.decision.finding].format(
        accesses=f"{found.use.total:,}",
        live=_few(result.accesses / (LIVE_SHARE * max(result.accessed, 1))),
        bytes=found.use.declared.bytes,
        file=found.use.declared.file,
        fields=len(found.use.leaves),
        smallest=SMALLEST_CLASS,
        min_fields=MIN_FIELDS,
        pointer=POINTER,
        hot_threshold=_few(hot_threshold(found)),
        marking="aggressively" if found.decision.divisor == AGGRESSIVE else "conservatively",
    )


def hot_threshold(found: ClassSplit) -> float:
    """The minimum accesses of a hot field: A / (2 F) or A / (5 F) (Chilimbi et al. 1999)."""
    divisor = found.decision.divisor or CONSERVATIVE
    return found.use.total / (divisor * max(len(found.use.leaves), 1))


def _few(threshold: float) -> str:
    """The threshold with a fraction if it is small."""
    return f"{threshold:,.0f}" if threshold >= 100 else f"{threshold:.1f}"


_REASONS = {
    Finding.SPLIT: "marked {marking}: a field with fewer than {hot_threshold} accesses is cold",
    Finding.NOT_LIVE: "not live: {accesses} accesses, and more than {live} are required",
    Finding.TOO_SMALL: "too small: {bytes} bytes, and more than {smallest} are required",
    Finding.TOO_FEW_FIELDS: "too few fields: {fields}, and more than {min_fields} are required",
    Finding.ALL_HOT: (
        "no cold field: each has {hot_threshold} accesses or more, half of the mean of all fields"
    ),
    Finding.LITTLE_COLD: "its cold fields are not larger than the pointer to them, {pointer} bytes",
    Finding.LIBRARY: "declared in a library's header, {file}",
    Finding.NO_SMALLER: "its {bytes} bytes become no fewer with the pointer to the cold part",
    Finding.TOO_WARM: "its cold fields are warm: too few have fewer than {hot_threshold} accesses",
}
