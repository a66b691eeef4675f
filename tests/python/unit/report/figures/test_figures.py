"""Figures show what was measured, say against what, and are the same file each time."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import BadInput, UsageError
from halo.report.figures.base import FigureOptions
from halo.report.figures.comparison import compare
from halo.report.figures.drawing.arrangement import arrange, ordered
from halo.report.figures.drawing.bar_chart import Chart
from halo.report.figures.drawing.style import canvas, look
from halo.report.figures.drawing.style import save as save_drawing
from halo.report.figures.registry import FIGURES, find_figure
from halo.report.results import read_measurements
from halo.report.results.graph import Graph, Node
from halo.report.results.metrics import parse_metric
from support.command import REPOSITORY
from support.samples.results import (
    config,
    distances,
    document,
    save,
    simulation,
)
from support.svg import words

SLOW = (4.0, 4.4, 3.6)


def evaluated(tmp_path: Path, program: str = "prog", kept: str = "halo") -> Path:
    """A folder as of `halo study eval compare`: more configurations, a simulation, distances."""
    raw = document(
        program,
        kept,
        simulation=simulation(
            {"glibc": 1.0, "jemalloc": 1.0, "halo": 0.5, "hot-streams plan": 0.75}
        ),
        distances=distances(1.5, 1.25, 1.75),
        configurations={"random-pools plan": config("random")},
    )
    trials = raw["trials"]["reference"]
    trials["random-pools plan"] = trials["tcmalloc"]
    trials["hot-streams plan"] = trials["jemalloc"]
    return save(raw, tmp_path / program)


def chart(paths: list[Path], metric: str, configs: tuple[str, ...], **options: Any) -> Chart:
    measurements = read_measurements(paths)
    return compare(measurements, parse_metric(metric), configs, FigureOptions(**options), "Title")


def test_every_figure_is_documented() -> None:
    text = (REPOSITORY / "docs" / "figures.md").read_text()
    for figure in FIGURES:
        assert f"| `{figure.name}` |" in text
    with pytest.raises(UsageError, match=r"choose one of: affinity-graph, .*, variances\."):
        find_figure("nonsense")


def test_bars_are_relative_to_the_fastest_allocator(tmp_path: Path) -> None:
    found = chart([evaluated(tmp_path)], "time@speedup", ("halo", "random-pools plan"))
    assert [value.value for value in found.groups[0].values] == [2.0, 0.5]
    assert "baseline: jemalloc, the fastest allocator" in found.note
    assert "measured on the reference input" in found.note
    assert "kernel" in found.note
    assert found.neutral == 1.0


def test_a_baseline_can_be_chosen(tmp_path: Path) -> None:
    found = chart([evaluated(tmp_path)], "time@speedup", ("halo",), baseline="tcmalloc")
    assert found.groups[0].values[0].value == 4.0
    assert "baseline: tcmalloc;" in found.note
    with pytest.raises(BadInput, match="no time of 'hoard'; it has those of: glibc,"):
        chart([evaluated(tmp_path)], "time@speedup", ("halo",), baseline="hoard")


def test_each_program_has_its_own_fastest_allocator(tmp_path: Path) -> None:
    times = {"glibc": (1.0,), "jemalloc": (2.0,), "halo": (1.0,)}
    paths = [evaluated(tmp_path), save(document("other", times=times), tmp_path / "other")]
    found = chart(paths, "time@relative", ("halo",))
    assert [group.values[0].value for group in found.groups] == [0.5, 1.0]
    assert "fastest allocator (jemalloc for prog; glibc for other)" in found.note


def test_a_program_without_a_plan_is_marked(tmp_path: Path) -> None:
    found = chart([evaluated(tmp_path, kept="none")], "time@negimprovement", ("halo",))
    assert found.groups[0].name == "prog\n(no plan)"
    assert found.groups[0].values[0].value == 0.0
    assert "so halo runs an allocator alone" in found.note


def test_speedups_are_drawn(tmp_path: Path) -> None:
    drawn = words(find_figure("speedup").make([evaluated(tmp_path)], FigureOptions(), "svg"))
    for word in ("Time saved", "halo", "hot-streams plan", "prog", "% below the baseline"):
        assert word in drawn
    assert "jemalloc, the fastest allocator" in drawn


def test_speedups_can_be_those_of_trimmed_means(tmp_path: Path) -> None:
    drawn = words(
        find_figure("speedup").make([evaluated(tmp_path)], FigureOptions(trimmed=True), "svg")
    )
    assert "means without the best and the worst run" in drawn
    table = find_figure("configurations").make(
        [save(document(times={"glibc": (2.0, 2.0, 8.0, 5.0), "halo": (1.0,) * 4}), tmp_path / "t")],
        FigureOptions(trimmed=True, configs=("halo",)),
        "json",
    )
    assert json.loads(table)[0]["value"] == 3.5


def test_misses_are_the_first_levels_unless_others_are_asked_for(tmp_path: Path) -> None:
    folder = evaluated(tmp_path)
    figure = find_figure("misses")
    drawn = words(figure.make([folder], FigureOptions(), "svg"))
    assert "L1D-misses@negimprovement, simulated on the training input" in drawn
    assert "error bars" not in drawn
    other = words(figure.make([folder], FigureOptions(metric="STLB-misses@relative"), "svg"))
    assert "STLB-misses@relative" in other
    with pytest.raises(BadInput, match=r"no misses of the first-level data cache.* time, user"):
        figure.make([save(document(), tmp_path / "plain")], FigureOptions(), "svg")


def test_random_pools_need_their_trials(tmp_path: Path) -> None:
    figure = find_figure("random-pools")
    assert "random-pools plan" in words(figure.make([evaluated(tmp_path)], FigureOptions(), "svg"))
    with pytest.raises(BadInput, match=r"no time of random-pools plan; it has those of glibc"):
        figure.make([save(document(), tmp_path / "plain")], FigureOptions(), "svg")


def test_distances_have_a_baseline(tmp_path: Path) -> None:
    figure = find_figure("distances")
    drawn = words(
        figure.make([evaluated(tmp_path), evaluated(tmp_path, "b")], FigureOptions(), "svg")
    )
    for word in ("glibc alone", "halo over glibc", " 8 16 32 ", "affinity distance, bytes"):
        assert word in drawn
    with pytest.raises(BadInput, match="not measured at several affinity distances"):
        figure.make([save(document(), tmp_path / "plain")], FigureOptions(), "svg")


def test_fragmentation_is_a_table_in_four_forms(tmp_path: Path) -> None:
    none = save(document("idle", kept="none"), tmp_path / "idle")
    paths = [evaluated(tmp_path), none]

    def make(ending: str) -> str:
        return find_figure("fragmentation").make(paths, FigureOptions(), ending).decode()

    # 4000 bytes resident and 3500 live, in two groups.
    assert "| prog | halo | 2 | 4,000 | 12.50 | 500 |\n" in make("md")
    assert "| idle | halo | 0 | - | - | - |\n" in make("md")
    rows = list(csv.DictReader(io.StringIO(make("csv"))))
    assert rows[0]["fragmentation_bytes"] == "500" and rows[1]["fragmentation_bytes"] == ""
    assert json.loads(make("json"))[0]["fragmentation_percent"] == 12.5
    assert len({len(line) for line in make("txt").splitlines()}) == 1


def test_configurations_are_one_table(tmp_path: Path) -> None:
    """Also where a program lacks one of them, unless it was asked for."""
    less = document("less")
    paths = [evaluated(tmp_path), save(less, tmp_path / "less")]
    figure = find_figure("configurations")
    lines = figure.make(paths, FigureOptions(), "md").decode().splitlines()
    titles, rows = lines[0].split(" | "), [line.split(" | ") for line in lines[2:]]
    at = titles.index("random-pools plan")
    assert [rows[0][0], rows[0][1], rows[0][at]] == ["| prog", "jemalloc", "0.5 (0.5 to 0.5)"]
    assert [rows[1][0], rows[1][at]] == ["| less", "-"]
    chosen = FigureOptions(metric="L2-misses@negimprovement", configs=("halo", "glibc"))
    assert "| prog | jemalloc | 50 | 0 |" in figure.make(paths[:1], chosen, "md").decode()
    records = json.loads(figure.make(paths[:1], chosen, "json"))
    assert records[0]["value"] == 50.0 and records[0]["configuration"] == "halo"
    raw = figure.make(paths[:1], FigureOptions(metric="time"), "md").decode()
    assert raw.startswith("| Program | glibc |")
    with pytest.raises(BadInput, match="has no time of 'random-pools plan'"):
        figure.make(paths, FigureOptions(configs=("random-pools plan",)), "md")


def test_bars_show_every_shared_configuration(tmp_path: Path) -> None:
    figure = find_figure("bars")
    plain = save(document("plain"), tmp_path / "plain")
    drawn = words(figure.make([evaluated(tmp_path), plain], FigureOptions(metric="time"), "svg"))
    assert "glibc" in drawn and "halo" in drawn and "random-pools" not in drawn
    with pytest.raises(UsageError, match="needs a metric"):
        figure.make([plain], FigureOptions(), "svg")


def test_many_configurations_look_different() -> None:
    assert len({look(number) for number in range(24)}) == 24


def test_images_are_of_their_kind_and_reproducible(tmp_path: Path) -> None:
    folder, figure = evaluated(tmp_path), find_figure("speedup")
    for ending, magic in (("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")):
        drawn = figure.make([folder], FigureOptions(), ending)
        assert drawn.startswith(magic)
        assert drawn == figure.make([folder], FigureOptions(), ending)


@pytest.mark.filterwarnings("error")
def test_names_with_a_meaning_to_others_are_only_names(tmp_path: Path) -> None:
    folder = save(document("$x^2$ <b>& \U0001f600漢"), tmp_path / "odd")
    assert "$x^2$ <b>& \U0001f600漢" in words(
        find_figure("speedup").make([folder], FigureOptions(), "svg")
    )


def node(context: int, group: int | None, accesses: int = 1, loop: int = 0) -> Node:
    return Node(context, f"f{context}", (f"f{context}",), accesses, 0.1, loop, group)


def test_groups_stand_together_without_overlap() -> None:
    nodes = (node(0, 1), node(1, None), node(2, 0), node(3, 1, 9), node(4, None))
    graph = Graph("p", nodes, ((0, 3, 5),), "")
    assert [n.context for n in ordered(graph)] == [2, 3, 0, 1, 4]
    places = arrange(graph)
    points = {(round(place.x, 6), round(place.y, 6)) for place in places.values()}
    assert len(points) == 5


def test_one_graph_at_a_time(tmp_path: Path) -> None:
    figure = find_figure("affinity-graph")
    with pytest.raises(UsageError, match="takes one results folder"):
        figure.make([evaluated(tmp_path, "a"), evaluated(tmp_path, "b")], FigureOptions(), "svg")
    with pytest.raises(UsageError, match="is of one program"):
        figure.make([tmp_path] * 3, FigureOptions(), "svg")


def test_fragmentation_is_that_of_the_chosen_input(tmp_path: Path) -> None:
    figure = find_figure("fragmentation")
    raw = document(configurations={"halo plan": config("halo")})
    raw["training_trials_of_configurations"] = {"halo plan": raw["trials"]["reference"]["halo"]}
    paths = [save(raw, tmp_path / "both")]
    options = FigureOptions(configs=("halo plan",), on="training")
    assert "| prog | halo plan | 2 | 4,000 |" in figure.make(paths, options, "md").decode()
    with pytest.raises(BadInput, match=r"no trials of 'halo plan' on the reference input"):
        figure.make(paths, FigureOptions(configs=("halo plan",)), "md")


def test_results_without_a_common_configuration_are_one_sentence(tmp_path: Path) -> None:
    paths = []
    for label in ("hot-streams plan", "random-pools plan"):
        raw = document(label.partition("-")[0], configurations={label: config("dense")})
        raw["training_trials_of_configurations"] = {label: raw["trials"]["reference"]["glibc"]}
        paths.append(save(raw, tmp_path / label))
    with pytest.raises(BadInput, match="No configuration with time is in all of the results"):
        find_figure("bars").make(paths, FigureOptions(on="training", metric="time"), "svg")


def test_names_that_are_not_utf_8_are_drawn(tmp_path: Path) -> None:
    paths = [save(document("caf\udce9"), tmp_path / "r")]
    assert "caf?" in words(find_figure("bars").make(paths, FigureOptions(metric="time"), "svg"))
    assert "| caf? |" in find_figure("fragmentation").make(paths, FigureOptions(), "md").decode()


def test_numbers_in_texts_of_a_picture_are_not_rounded() -> None:
    with canvas(2, 2) as drawing:
        drawing.text(0.123456, 0.5, "0.9876 of all")
        content = save_drawing(drawing, "svg").decode()
    assert "0.9876 of all" in words(content.encode()) and "\n" not in content.strip()
    assert not re.search(r'"[^"]*\d\.\d{3}[^"]*"', content)
