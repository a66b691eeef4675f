"""A real measurement, read back: its trials, its metrics, and its graph in every form."""

from __future__ import annotations

import io
import json
import math
import re
import subprocess
from pathlib import Path
from statistics import median

import networkx
import pytest

from halo.base.errors import BadInput
from halo.binary.elf import build_id_of
from halo.measure.racing.gains import gain_of
from halo.record.profile import Module, name_frames
from halo.report.figures.base import FigureOptions
from halo.report.figures.registry import find_figure
from halo.report.results import read_measurement
from halo.report.results.graph import build_graph, source_of_folder
from halo.report.results.metrics import clock_of, evaluate, fastest_allocator, parse_metric
from support.command import compile_c
from support.samples.plan import Sample
from support.samples.results import (
    measured_folder,
    with_kept,
)
from support.svg import words


def test_a_real_folder_gives_its_kept_plan(tmp_path: Path) -> None:
    folder = with_kept(tmp_path / "kept", measured_folder(), "halo")
    graph = build_graph(source_of_folder(read_measurement(folder)), top=10)
    assert graph.note.startswith("groups of the kept plan 'halo'")
    assert any("push" in frame for node in graph.nodes for frame in node.stack)
    assert any(node.group == 0 for node in graph.nodes)
    (folder / "halo.plan").unlink()
    with pytest.raises(BadInput, match=r"holds no halo\.plan, the plan that was kept"):
        source_of_folder(read_measurement(folder))


def test_a_real_folder_without_a_plan_shows_the_one_that_was_tried(tmp_path: Path) -> None:
    folder = with_kept(tmp_path / "none", measured_folder(), "none")
    source = source_of_folder(read_measurement(folder))
    assert source.plan_note == "no plan was kept; groups of the plan 'halo'"
    (folder / "train.profile").unlink()
    with pytest.raises(BadInput, match=r"holds no train\.profile"):
        source_of_folder(read_measurement(folder))


def test_a_rebuilt_module_has_no_names(tmp_path: Path) -> None:
    """Its old offsets lie in other functions now."""
    program = compile_c("int main(void) { return 0; }", tmp_path / "prog")
    [start] = [
        int(line.split()[0], 16)
        for line in subprocess.run(["nm", program], capture_output=True, text=True).stdout.split(
            "\n"
        )
        if line.endswith(" T main")
    ]
    for build_id, name in ((build_id_of(program), "main at "), ("aa" * 20, "prog+0x")):
        recorded = Sample(modules=[Module(str(program), build_id)])
        recorded.add([start + 4])
        assert name_frames(recorded.profile(), [0])[0].startswith(name)


def test_a_real_measurement_is_read_back() -> None:
    folder = measured_folder()
    found = read_measurement(folder)
    raw = json.loads((folder / "results.json").read_text())
    assert found.program == "list"
    compared = ["glibc", "jemalloc", "mimalloc", "tcmalloc"]
    assert list(found.results.trials.allocators_on_training) == compared
    assert found.allocators[0] == "glibc"
    assert {name.partition(":")[0] for name in found.allocators} <= set(compared)
    assert found.allocators == list(found.summary.allocators)
    assert [t.wall for t in found.reference["glibc"]] == [
        sample["wall"] for sample in raw["trials"]["reference"]["glibc"]
    ]
    assert found.kept is not None and found.kept.candidate == raw["summary"]["candidate"]
    assert found.summary.record is not None and found.summary.record.slowdown > 1
    assert found.machine.kernel == raw["machine"]["kernel"]
    assert read_measurement(folder / "results.json") == found


def test_a_real_speedup_is_that_of_the_summary() -> None:
    found = read_measurement(measured_folder())
    value = evaluate(found, parse_metric("time@speedup"), "halo", fastest_allocator(found))
    best, clock = fastest_allocator(found), clock_of(found)
    mine, others = (median(map(clock, found.reference[name])) for name in ("halo", best))
    assert value.value == pytest.approx(others / mine), "of medians, by the clock of the answer"
    gain = gain_of(found.reference, "halo", best)
    assert found.summary.speedup == pytest.approx(math.exp(gain.mean))
    assert value.low <= value.value <= value.high


def test_a_real_graph_in_every_form(tmp_path: Path) -> None:
    folder = with_kept(tmp_path / "kept", measured_folder(), "halo")
    figure = find_figure("affinity-graph")
    drawn = words(figure.make([folder], FigureOptions(top=5), "svg"))
    assert "Affinity graph of list" in drawn and "push" in drawn
    assert "Groups of the kept plan 'halo'; " in drawn and "to itself; width" in drawn
    plan = [folder / "train.profile", folder / "halo.plan"]
    found = networkx.read_graphml(io.BytesIO(figure.make(plan, FigureOptions(), "graphml")))
    assert found.number_of_edges() > 0
    assert any("push" in data["stack"] for _, data in found.nodes(data=True))
    assert {data["group"] for _, data in found.nodes(data=True)} <= {-1, 0, 1, 2, 3}
    dot = figure.make(plan, FigureOptions(), "dot").decode()
    assert dot.startswith('graph "list" {') and re.search(r"\d+ -- \d+ \[weight=\d+", dot)
    assert figure.make([folder / "train.profile"], FigureOptions(), "png").startswith(b"\x89PNG")
