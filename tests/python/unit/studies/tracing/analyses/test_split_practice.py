"""What halo study trace split does not advise although the rules do, and what it warns of."""

from __future__ import annotations

from halo.studies.tracing.analyses.split.counts import PlaceUse, count_uses
from halo.studies.tracing.analyses.split.findings import caution, findings
from halo.studies.tracing.analyses.split.rules import Finding
from halo.studies.tracing.analyses.split.split import SplitResult, split_classes
from support.samples.split import ARC, POINT, chosen, declared


def test_a_librarys_class_is_not_the_programs_to_split() -> None:
    arc = declared("std::arc", 72, *ARC, file="/usr/include/c++/12/arc.h")
    found = chosen(arc, "ident")
    assert (found.decision.finding, found.parts, found.suggestion) == (Finding.LIBRARY, None, "")
    result = SplitResult("p", 1000, 1, (found,))
    assert result.chosen() == [] and result.chosen(everything=True) == [found]
    (said,) = findings(result, result.chosen())
    assert said.startswith("No class should be split")


def test_what_becomes_no_smaller_is_not_split() -> None:
    """Twelve cold bytes give way to eight of a pointer, and four of padding."""
    fields = (("hot", "long", 0, 8), ("a", "int", 8, 4), ("b", "int", 12, 4), ("c", "int", 16, 4))
    assert chosen(declared("s", 16 + 8, *fields), "hot").decision.finding is Finding.SPLIT
    tight = (("hot", "char", 0, 1), ("a", "short", 2, 2), ("b", "long", 4, 8))
    assert chosen(declared("t", 12, *tight), "hot").decision.finding is Finding.NO_SMALLER


def test_cold_fields_whose_accesses_may_not_be_seen() -> None:
    """An array may be handed to strcmp; a nested structure has accesses of its own."""
    arc, point = declared("arc", 72, *ARC), declared("point", 8, *POINT)
    uses = count_uses({0: arc, 1: point}, [PlaceUse(0, 0, 4, 4000), PlaceUse(1, 4, 4, 500)])
    result = split_classes("p", uses, {})
    (found,) = [it for it in result.classes if it.use.declared.name == "arc"]
    said = caution(found, result)
    assert "place (500 to point) are not among those of arc" in said
    assert "often passes them name." in said
    assert said in findings(result, result.chosen())


def test_no_warning_where_all_cold_fields_are_numbers() -> None:
    plain = [field for field in ARC if field[0] not in ("name", "place")]
    found = chosen(declared("arc", 64, *plain), "ident")
    assert found.decision.split and caution(found, SplitResult("p", 1000, 1, (found,))) == ""
