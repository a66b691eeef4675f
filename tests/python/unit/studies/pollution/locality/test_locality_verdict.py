"""The verdict of `halo study locality`, and its report."""

from __future__ import annotations

import pytest

from halo.base.console.terminal import TextRow
from halo.studies.pollution.locality.document import ContextLocality
from halo.studies.pollution.locality.table import alike, opening, polluters_table, watched
from halo.studies.pollution.locality.verdict import Answer, judge
from support.samples.locality import LINES, context, locality

POLLUTER, NORMAL = context(90 * LINES, 100 * LINES), context(89 * LINES, 100 * LINES)


@pytest.mark.parametrize(
    ("contexts", "outside", "answer"),
    [
        ([context(LINES, LINES)], 0, Answer.FITS),
        ([context(LINES + 1, LINES + 1)], 0, Answer.POLLUTES),
        ([POLLUTER], 91 * LINES, Answer.OUTSIDE),
        ([POLLUTER, NORMAL], 0, Answer.POLLUTES),
        ([NORMAL], 0, Answer.NONE),
        ([context(5 * LINES, 5 * LINES), NORMAL], 0, Answer.NONE),
    ],
)
def test_the_answer_is_of_a_closed_set(
    contexts: list[ContextLocality], outside: int, answer: Answer
) -> None:
    verdict = judge(locality(*contexts, outside=outside))
    assert verdict.answer is answer
    assert verdict.pollutes == (answer is Answer.POLLUTES)
    assert verdict.sentence.endswith(".")


def test_contexts_without_accesses_pollute_nothing() -> None:
    assert judge(locality(context(0, 0), NORMAL)).polluting == ()


def test_polluters_are_listed_by_their_misses() -> None:
    found = locality(
        context(2000, 2000, name="small"), NORMAL, context(9000, 10000, objects=7, name="large")
    )
    verdict = judge(found)
    assert [number for number, _ in verdict.polluting] == [2, 0]
    rows = polluters_table(verdict).rows
    assert [row.cells[0] for row in rows] == ["2", "0"]
    assert isinstance(rows[0], TextRow)
    assert rows[0].cells[1:4] == ("7", "3.0", "2.0")
    assert rows[0].cells[4] == "90.0%"
    assert rows[0].cells[-1] == "large"


def test_a_stored_trace_has_no_names() -> None:
    table = polluters_table(judge(locality(POLLUTER)))
    assert [field.name for field in table.fields][-1] == "of all misses"


def test_the_report_has_the_shares() -> None:
    found = locality(context(5, 10, rated=2, variance=0.2), context(5, 10, rated=1, variance=0))
    assert "75% miss in fewer than a tenth" in opening(found)
    assert "97.0% miss like their object" in alike(found)
    assert "Of 1 contexts with several such objects, 1 have" in alike(found)
    assert "90.0% of 100 predicted" in watched(found)
