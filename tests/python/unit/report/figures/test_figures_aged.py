"""Aged heaps as a figure and as a table: what is compared, and what is said of it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import matplotlib.figure
import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.lines import Line2D

from halo.base.errors import BadInput
from halo.report.figures.aged.heaps import Heaps, configs_of, litter_note, read_heaps
from halo.report.figures.aged.looks import looks_of
from halo.report.figures.aged.occupancy import legend_columns
from halo.report.figures.aged.occupancy_lines import draw_lines
from halo.report.figures.aged.split_bars import faint, stacks_of
from halo.report.figures.aged.table import seconds
from halo.report.figures.base import FigureOptions
from halo.report.figures.drawing.style import INK
from halo.report.figures.registry import find_figure
from halo.report.results.metrics import parse_metric
from support.samples.aged_results import CLEAN, GROUPS, aged_document, median_seconds
from support.samples.results import document, save
from support.svg import words as text_of_svg

NO_CUSTOM = {label: time for label, time in CLEAN.items() if label != "custom"}


def folder(tmp_path: Path, program: str = "prog", **of_aged: Any) -> Path:
    return save(aged_document(program, **of_aged), tmp_path / program)


def heaps(paths: list[Path], metric: str = "time@relative", **options: Any) -> list[Heaps]:
    return read_heaps(paths, parse_metric(metric), FigureOptions(**options))


def words(paths: list[Path], **options: Any) -> str:
    return text_of_svg(find_figure("occupancy").make(paths, FigureOptions(**options), "svg"))


def table(paths: list[Path], ending: str, **options: Any) -> str:
    return find_figure("aged").make(paths, FigureOptions(**options), ending).decode()


def test_the_baseline_is_the_programs_own_allocator(tmp_path: Path) -> None:
    one = folder(tmp_path)
    assert heaps([one])[0].baseline == "custom"
    assert heaps([one], baseline="fastest")[0].baseline == "mimalloc"
    assert heaps([one], baseline="tcmalloc")[0].baseline == "tcmalloc"
    none = folder(tmp_path, "other", clean=NO_CUSTOM)
    assert heaps([none])[0].baseline == "mimalloc"
    drawn = words([one, none])
    assert "baseline, on the clean heap: custom for prog; mimalloc for other" in drawn
    assert "baseline: custom on the clean heap" in words([one])
    assert "baseline: tcmalloc on the clean heap" in words([one], baseline="tcmalloc")


def test_the_programs_own_allocator_comes_first(tmp_path: Path) -> None:
    """Wherever the file has it; the others stay in the file's order."""
    raw = aged_document()
    configs = raw["aged"]["configurations"]
    configs["custom"] = configs.pop("custom")
    found = heaps([save(raw, tmp_path / "r")])
    assert list(found[0].aged.configurations)[-1] == "custom"
    assert configs_of(found) == [*CLEAN, GROUPS]


def test_everything_is_said_below(tmp_path: Path) -> None:
    drawn = words([folder(tmp_path)])
    for said in (
        "time@relative, medians",
        "custom: prog-freelist",
        "error bars: quartiles",
        "litter: 1 times the most objects that live at once, freed in random order, seed 1",
        "the part of the litter that is kept",
        "Machine: ",
        "inside the allocator: samples in its library, glibc's being all of libc",
        "a custom allocator's own code is outside",
    ):
        assert said in drawn
    assert "; a custom" not in words([folder(tmp_path, "other", clean=NO_CUSTOM)])


def points(line: Line2D) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in np.asarray(line.get_xydata())]


def test_lines_go_from_the_clean_heap_to_the_most_holes(tmp_path: Path) -> None:
    found = heaps([folder(tmp_path)])
    axes = matplotlib.figure.Figure().subplots()
    draw_lines(axes, found[0], looks_of(found), parse_metric("time@relative"))
    ticks = [label.get_text() for label in axes.get_xticklabels()]
    assert ticks == ["clean", "0.99", "0.9", "0.5", "0.1", "0.01"]
    bars = [bars for bars in axes.containers if isinstance(bars, ErrorbarContainer)]
    lines = {each.get_label(): points(each.lines[0]) for each in bars}
    assert list(lines) == [*CLEAN, GROUPS]
    levels = (None, 0.99, 0.9, 0.5, 0.1, 0.01)
    assert [y for _, y in lines["glibc"]] == pytest.approx(
        [median_seconds("glibc", level) / 2 for level in levels]
    )
    places = [round(place) for place, _ in lines[GROUPS]]
    assert places == [1, 2, 3, 4, 5]  # without the clean heap, which it has no trials of
    clean = [line[0][0] for label, line in lines.items() if label != GROUPS]
    assert len({round(place, 6) for place in clean}) == len(clean)
    assert all(-0.5 < place < 0.5 for place in clean)


def test_only_a_transform_has_a_line_of_its_baseline(tmp_path: Path) -> None:
    one = folder(tmp_path)
    dashed = []
    for metric in ("time@relative", "time"):
        found = heaps([one], metric)
        axes = matplotlib.figure.Figure().subplots()
        draw_lines(axes, found[0], looks_of(found), parse_metric(metric))
        dashed.append([points(line)[0][1] for line in axes.lines if line.get_linestyle() == "--"])
    assert dashed == [[1.0], []]


def test_configurations_look_different_and_alike_in_every_panel(tmp_path: Path) -> None:
    both = heaps([folder(tmp_path), folder(tmp_path, "other", clean=NO_CUSTOM)])
    looks = looks_of(both)
    assert list(looks) == [*CLEAN, GROUPS]
    assert len({look.colour for look in looks.values()}) == 7
    assert [label for label, look in looks.items() if look.colour == INK] == ["custom"]
    assert len({look.marker for look in looks.values()}) == 7
    many = {f"a{number}": 1.0 for number in range(18)}
    looks = looks_of(heaps([folder(tmp_path, "many", clean=many)]))
    assert len({(look.colour, look.line) for look in looks.values()}) == 18


def test_the_legend_has_as_many_columns_as_fit() -> None:
    assert legend_columns(["glibc"]) == 1
    assert legend_columns([*CLEAN, GROUPS]) == 4
    assert legend_columns([GROUPS] * 7) == 2
    assert legend_columns(["x" * 60] * 3) == 1


@pytest.mark.parametrize(
    ("levels", "rotation", "separators"),
    [
        ((None,), 0, 0),
        ((None, *(n / 6 for n in range(6))), 0, 1),
        ((None, *(n / 7 for n in range(7))), 90, 1),
    ],
)
def test_names_of_many_levels_are_turned(
    tmp_path: Path, levels: tuple[float | None, ...], rotation: int, separators: int
) -> None:
    found = heaps([folder(tmp_path, levels=levels)], "time")
    axes = matplotlib.figure.Figure().subplots()
    draw_lines(axes, found[0], looks_of(found), parse_metric("time"))
    assert {label.get_rotation() for label in axes.get_xticklabels()} == {rotation}
    upright = [line for line in axes.lines if [x for x, _ in points(line)] == [0.5, 0.5]]
    assert len(upright) == separators


def test_another_metric_is_drawn_where_it_was_counted(tmp_path: Path) -> None:
    one = folder(tmp_path, counters={"LLC-load-misses": 70})
    drawn = words([one], metric="LLC-load-misses")
    assert "LLC-load-misses, medians" in drawn and "LLC load misses" in drawn
    assert "baseline" not in drawn and "inside the allocator" not in drawn
    with pytest.raises(BadInput, match="no page-faults on aged heaps; measured there were: time"):
        words([one], metric="page-faults")


def test_time_inside_the_allocator_and_outside_is_separate(tmp_path: Path) -> None:
    raw = aged_document()
    at_half = raw["aged"]["levels"][0]
    at_half["split"]["glibc"] = {"inside": 0.75, "outside": 0.25, "samples": 10}
    del at_half["split"]["jemalloc"]
    for level in raw["aged"]["levels"]:
        level["split"].pop("tcmalloc", None)
    found = stacks_of(heaps([save(raw, tmp_path / "r")])[0])
    assert list(found) == [label for label in (*CLEAN, GROUPS) if label != "tcmalloc"]
    assert [stack.place for stack in found["glibc"]] == [0, 1, 2, 3, 4, 5]
    assert [stack.place for stack in found[GROUPS]] == [1, 2, 3, 4, 5]
    half = found["glibc"][3]
    assert (half.whole, half.inside) == pytest.approx((2.0, 1.5))
    assert found["glibc"][0].inside == pytest.approx(1.5 / 4)
    assert found["jemalloc"][3].inside is None
    drawn = words([tmp_path / "r"])
    assert "prog: inside the allocator and outside" in drawn and "not sampled" in drawn
    assert "samples of a bar: 10 or more" in drawn
    whole = words([folder(tmp_path, "whole")])
    assert "not sampled" not in whole and "samples of a bar: 1000 or more" in whole


def test_parts_are_of_time_in_seconds_or_relative(tmp_path: Path) -> None:
    one = folder(tmp_path)
    for metric in ("time", "time@relative"):
        assert "prog: inside the allocator and outside" in words([one], metric=metric)
    assert "inside the allocator" not in words([one], metric="time@speedup")
    stacks = stacks_of(heaps([one], "time")[0])
    assert stacks["glibc"][0].inside == pytest.approx(0.75)


def test_where_nothing_was_sampled_the_figure_says_so(tmp_path: Path) -> None:
    plain = folder(tmp_path, "plain", split=False)
    drawn = words([plain])
    assert "no samples of the time inside the allocator" in drawn
    assert "inside the allocator and outside" not in drawn
    both = words([folder(tmp_path), plain])
    assert "no samples of plain of the time inside" in both
    assert "prog: inside the allocator and outside" in both
    assert "plain: inside" not in both


def test_what_is_outside_is_fainter_and_no_other_colour() -> None:
    assert faint("#000000") == pytest.approx((0.7, 0.7, 0.7))
    assert faint("#FFFFFF") == (1, 1, 1)


def test_heaps_that_were_littered_otherwise_are_refused(tmp_path: Path) -> None:
    one = folder(tmp_path)
    for key, value, said in (
        ("multiplier", 20.0, "multiplier of litter is 1 and 20;"),
        ("shuffle", False, "shuffling of litter is on and off;"),
    ):
        raw = aged_document("other")
        raw["aged"][key] = value
        other = save(raw, tmp_path / "other")
        with pytest.raises(BadInput, match=f"do not belong together: their {said}"):
            heaps([one, other])
    raw = aged_document("other")
    raw["aged"].update(seed=7)
    assert litter_note(heaps([one, save(raw, tmp_path / "other")])).endswith(", seed 1, seed 7")
    raw["aged"].update(shuffle=False, seed=None)
    said = litter_note(heaps([save(raw, tmp_path / "other")]))
    assert said.endswith(", the last ones freed, another seed in each run")


def test_results_without_aged_heaps_are_refused(tmp_path: Path) -> None:
    plain = save(document(), tmp_path / "plain")
    for name, ending in (("occupancy", "svg"), ("aged", "md")):
        with pytest.raises(
            BadInput, match="not measured on aged heaps; halo study heap age does that"
        ):
            find_figure(name).make([plain], FigureOptions(), ending)


def test_configurations_can_be_chosen(tmp_path: Path) -> None:
    one = folder(tmp_path)
    drawn = words([one], configs=("mimalloc", "glibc"))
    assert "mimalloc" in drawn and "tcmalloc" not in drawn
    assert "baseline: custom" in drawn
    rows = table([one], "md", configs=("mimalloc", "glibc")).splitlines()[2:]
    assert [row.split(" | ")[1] for row in rows] == ["mimalloc", "glibc"]
    with pytest.raises(BadInput, match="has no 'hoard' on aged heaps"):
        table([one], "md", configs=("hoard",))


def test_the_table_has_a_block_for_each_program(tmp_path: Path) -> None:
    other = folder(tmp_path, "other", clean=NO_CUSTOM, levels=(0.25, None, 0.5))
    lines = table([folder(tmp_path), other], "md").splitlines()
    assert lines[0] == (
        "| Program | Configuration | Clean heap | Occupancy 0.99 | Occupancy 0.9 | Occupancy 0.5"
        " | Occupancy 0.25 | Occupancy 0.1 | Occupancy 0.01 |"
    )
    # 3 s and 2 s more of what is freed, against the 2 s of the program's own allocator.
    assert lines[3] == (
        "| prog | glibc | 3.00 s (1.50x) | 3.02 s (1.51x) | 3.20 s (1.60x) | 4.00 s (2.00x)"
        " | - | 4.80 s (2.40x) | 4.98 s (2.49x) |"
    )
    assert lines[2].startswith("| prog | custom | 2.00 s | 2.00 s (1.00x) |")
    assert lines[8].startswith(f"| prog | {GROUPS} | - | 1.51 s (0.75x) |")
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| prog"] * 7 + ["| other"] * 6
    assert (
        "| other | mimalloc | 2.25 s | - | - | 3.00 s (1.33x) | 3.38 s (1.50x) | - | - |" in lines
    )


def test_the_table_has_records(tmp_path: Path) -> None:
    raw = aged_document()
    del raw["aged"]["levels"][0]["split"]["glibc"]
    one = save(raw, tmp_path / "r")
    records = json.loads(table([one], "json"))
    assert len(records) == 7 * 6 - 1
    assert records[6] == {
        "program": "prog",
        "configuration": "glibc",
        "occupancy": None,
        "baseline": "custom",
        "median": 3.0,
        "first_quartile": pytest.approx(2.85),
        "third_quartile": pytest.approx(3.15),
        "ratio": 1.5,
        "trials": 3,
        "inside_allocator": 0.25,
    }
    assert (records[9]["occupancy"], records[9]["inside_allocator"]) == (0.5, None)
    rows = list(csv.DictReader(io.StringIO(table([one], "csv"))))
    assert rows[6]["occupancy"] == "" and rows[9]["ratio"] == "2.0"
    assert len({len(line) for line in table([one], "txt").splitlines()}) == 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (49.97, "49.97 s"),
        (1.0, "1.00 s"),
        (0.9999, "1.00 s"),
        (0.09, "0.0900 s"),
        (0.1226, "0.123 s"),
        (1234.5, "1234.50 s"),
        (1e-12, "0.000000000 s"),
    ],
)
def test_seconds_have_digits_enough(value: float, expected: str) -> None:
    assert seconds(value) == expected


def test_images_are_of_their_kind_and_reproducible(tmp_path: Path) -> None:
    paths = [folder(tmp_path), folder(tmp_path, "other", clean=NO_CUSTOM)]
    figure = find_figure("occupancy")
    for ending, magic in (("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")):
        drawn = figure.make(paths, FigureOptions(), ending)
        assert drawn.startswith(magic)
        assert drawn == figure.make(paths, FigureOptions(), ending)
