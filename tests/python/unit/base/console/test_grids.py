"""Tables and prose fit the terminal, and no figure or place is cut at any width."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from halo.base.console.terminal import (
    UNBOUNDED,
    Cell,
    TextColumn,
    TextGrid,
    TextRow,
    show_grid,
    show_prose,
    wrap,
)
from halo.base.schema.document import convert
from halo.base.schema.merge import InputScore, MergedInput, MergeDocument, PlanCoverage
from halo.base.schema.simulation import Level, SimulatedMachine
from halo.cli.shared.review import groups_table
from halo.measure import probe_report, table
from halo.plan.merging.table import inputs_table, scores_table
from halo.plan.model import GroupReview, Member
from halo.record.profile import Conflicts
from halo.record.profile.simulation import Simulation, Tally
from halo.record.simulation.table import levels_table, tallies_table
from halo.report.results import read_measurement
from halo.report.results.aged_summary import aged_grid
from halo.studies.conflicts.coverage_document import CoverageDocument, PredictorCoverage
from halo.studies.conflicts.document import CompetingPair
from halo.studies.conflicts.names import StateName
from halo.studies.conflicts.table import coverage_table, pairs_table, states_table
from halo.studies.tracing.analyses import Request, find_analysis, open_folder, run_analysis
from halo.studies.tracing.analyses.render import grid_of, title_of
from halo.studies.tracing.analyses.split.analysis import split_of
from halo.studies.tracing.analyses.split.table import fields_table, parts_table
from support.samples.aged_results import aged_document
from support.samples.conflicts import conflicts_document
from support.samples.findings import complete
from support.samples.probe import measured
from support.samples.results import save
from support.samples.split import arcs_and_nodes
from support.samples.trace import scan_of_wide_structures

WIDTHS = (60, 80, 120)
NAME = "void store::deep::insert_or_assign<std::pair<unsigned long const, store::value> >(key)"
PLACE = "src/containers/hash_table_with_a_long_name.cc:12345"
LEVELS = ("L1D", "L2", "L3", "DTLB", "STLB")


def rendered(grid: TextGrid, width: int) -> str:
    stream = io.StringIO()
    show_grid(Console(file=stream, width=width, color_system=None), grid)
    return stream.getvalue()


def text_of(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell.plain


def of_run(_: Path) -> list[TextGrid]:
    found = complete(1234.5678)
    return [table.table([found]), table.table([found, found])]


def of_baseline(_: Path) -> list[TextGrid]:
    found = complete(1.0)
    del found.reference["halo"]
    return [table.table([found])]


def of_probe(_: Path) -> list[TextGrid]:
    return [probe_report.table(measured(1234.0, 2345.0, 3456.0))]


def of_age(folder: Path) -> list[TextGrid]:
    return [aged_grid(read_measurement(save(aged_document(), folder)))]


def of_plan(_: Path) -> list[TextGrid]:
    member = Member(7, 10**9, 10**6, ((24, 9), (4096, 1)), (f"{NAME} at {PLACE}", "main at m.c:3"))
    return [groups_table((GroupReview("affinity (HALO, figure 6)", 0.987, 5, (member,)),) * 3)]


def of_simulate(_: Path) -> list[TextGrid]:
    caches = tuple(Level(name, 32768, 16, 10) for name in LEVELS[:3])
    tlbs = tuple(Level(name, 128, 12, 10) for name in LEVELS[3:])
    machine = SimulatedMachine(caches, tlbs, (32, 4), 64, 4096, 200, 30, True, True)
    tally = Tally(10**9, 10**10, (123456789, 23456789, 3456789, 456789, 56789))
    found = Simulation(machine, tally, (), (), (), (0, 0, 0), 10**10, 1, 1)
    simulated = SimpleNamespace(
        simulation=found,
        profile=SimpleNamespace(
            recorder=SimpleNamespace(instructions=10**11), sections={"simulation": found}
        ),
    )
    return [
        levels_table(simulated),  # type: ignore[arg-type]
        tallies_table("objects allocated by", found, [(f"{NAME} at {PLACE}", tally)]),
    ]


def analysed(name: str, folder: Path) -> list[TextGrid]:
    analysis = find_analysis(name)
    trace = scan_of_wide_structures()
    columns = open_folder(trace.write(folder / "columns"))
    answer = run_analysis(analysis, columns, Request(folder))
    table = analysis.rendered(answer.report)
    return [grid_of(table, title_of(analysis, answer))]


def of_conflicts(_: Path) -> list[TextGrid]:
    found = convert(conflicts_document(), Conflicts)
    names = {at: StateName(f"{NAME} ← {PLACE}", "other sizes", ()) for at in range(3)}
    pair = CompetingPair(1, 2, 123456789.0, 12.5)
    return [states_table(found, names, [2, 1, 0]), pairs_table(found, names, [pair])]


def of_coverage(_: Path) -> list[TextGrid]:
    row = PredictorCoverage(
        predictor="stack depth + size",
        training=123456,
        both=23456,
        reference=654321,
        coverage=0.25,
        allocations=1.0,
    )
    document = CoverageDocument(
        program="", training=(), reference=(), predictors=(row,), unlisted=0.0
    )
    return [coverage_table(document)]


def of_merge(_: Path) -> list[TextGrid]:
    shares = PlanCoverage(affinity=0.987, accesses=1.0, allocations=0.0)
    score = InputScore(others=shares, all=shares, own=shares, kept=1.0)
    one = MergedInput(
        profile="results/server-20261126/a-long-name.profile",
        arguments=(),
        accesses=123456789012,
        weight=1.0,
        repeats=123456,
        score=score,
    )
    document = MergeDocument(
        program="",
        output=None,
        inputs=(one, one),
        contexts=12345,
        left_out=(),
        apart=None,
        agreement="They agree.",
    )
    return [inputs_table(document), scores_table(document)]


def of_offenders(folder: Path) -> list[TextGrid]:
    return analysed("offenders", folder)


def of_sharing(_: Path) -> list[TextGrid]:
    names = ("line", "transfers", "sharing", "variable", "where", "in", "bytes", "accesses")
    row = ("0x55d0c0ffee40", "≤ 400,000", "false", NAME, PLACE, NAME, "0–7", "12,345,678")
    return [
        TextGrid(
            [TextColumn(name, prose=name != "transfers") for name in names], [TextRow(row)] * 2
        )
    ]


def of_split(folder: Path) -> list[TextGrid]:
    columns = open_folder(arcs_and_nodes().write(folder / "columns"))
    answer = run_analysis(find_analysis("split"), columns, Request(folder))
    result = split_of("prog", answer.report, answer.details)
    parted = [found for found in result.classes if found.parts is not None]
    assert parted
    return [*map(fields_table, result.classes), *map(parts_table, parted)]


MAKERS = [
    *(of_run, of_baseline, of_probe, of_age, of_plan, of_simulate),
    *(of_conflicts, of_coverage, of_merge, of_offenders, of_sharing, of_split),
]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_no_figure_and_no_place_is_cut(
    make: Callable[[Path], list[TextGrid]], width: int, tmp_path: Path
) -> None:
    for grid in make(tmp_path):
        shown = rendered(grid, width)
        assert max(map(len, shown.splitlines())) <= width, shown
        assert "…" not in shown
        for row in grid.rows:
            for word in " ".join(map(text_of, row.cells)).split():
                assert word in shown, shown


LONGEST_LINE = 420  # a table of three columns of prose; a name alone has 700


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_a_pipe_gets_whole_figures_and_cut_names(
    make: Callable[[Path], list[TextGrid]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of C++ templates have hundreds of characters, with or without blanks in them."""
    whole = f"void store::{'deep::' * 50}insert<{'std::pair<unsigned long const, x> ' * 12}>(key)"
    monkeypatch.setattr(f"{__name__}.NAME", whole)
    assert len(whole) > 700
    for grid in make(tmp_path):
        shown = rendered(grid, UNBOUNDED)
        assert max(map(len, shown.splitlines())) <= LONGEST_LINE, shown
        assert whole not in shown
        for row in grid.rows:
            for field, cell in zip(grid.fields, row.cells, strict=True):
                words = text_of(cell).split()
                assert not field.figures or all(word in shown for word in words), shown


def test_a_cut_name_keeps_both_ends(tmp_path: Path) -> None:
    place = "at containers/table.cc:12345"
    name = f"store::{'x' * 700} {place}"
    for prose in (False, True):
        grid = TextGrid(
            [TextColumn("name", prose=prose), TextColumn("n", figures=True)], [TextRow((name, "7"))]
        )
        shown = rendered(grid, UNBOUNDED)
        assert "store::xxx" in shown and "xxx...xxx" in shown and place in shown
        assert name in " ".join(rendered(grid, 1000).split()), "a terminal of any width"
    stack = TextGrid([TextColumn("stack")], [TextRow(("f at a.c:1\n" * 30,))])
    assert rendered(stack, UNBOUNDED).count("f at a.c:1") == 30


def test_a_wide_terminal_gets_a_table_and_a_narrow_one_records() -> None:
    grid = TextGrid(
        [TextColumn("name"), TextColumn("count", figures=True)], [TextRow(("x" * 30, "1,234,567"))]
    )
    assert "───" in rendered(grid, 60)
    assert rendered(grid, 40).split("\n")[1:3] == [f"name: {'x' * 30}", "  count: 1,234,567"]


def test_the_lines_of_a_stack_stay_apart_in_a_record() -> None:
    fields = [
        TextColumn("group", figures=True),
        TextColumn("context", prose=True),
        TextColumn("why"),
    ]
    times = TextColumn("time, s", figures=True)
    row = TextRow(("0", "f at a.c:1\ng at b.c:2", "x" * 30, "1.000\n(0.9 to 1.1)"))
    assert rendered(TextGrid([*fields, times], [row]), 40).split("\n")[1:-1] == [
        "group: 0",
        "  context:",
        "    f at a.c:1",
        "    g at b.c:2",
        f"  why: {'x' * 30}",
        "  time, s: 1.000 (0.9 to 1.1)",
    ]


def test_prose_is_broken_between_words() -> None:
    stream = io.StringIO()
    sentence = "The middle half of the times spreads over more than 10 % of the median."
    show_prose(Console(file=stream, width=30), sentence, "  ")
    lines = stream.getvalue().splitlines()
    assert all(len(line) <= 30 and line.startswith("  ") for line in lines)
    assert " ".join(" ".join(lines).split()) == sentence


def test_a_path_longer_than_the_line_stays_whole() -> None:
    path = "/a/path/" + "x" * 70
    assert wrap(f"See {path} there", 40) == ["See", path, "there"]
