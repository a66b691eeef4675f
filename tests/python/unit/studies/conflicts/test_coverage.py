"""State coverage: the formula, the seven predictors, and `halo study eval coverage`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from halo.base.schema.document import convert
from halo.cli.main import main
from halo.record.profile import Module
from halo.studies.conflicts.coverage import measure_coverage, state_coverage
from halo.studies.conflicts.coverage_document import CoverageDocument, PredictorCoverage
from halo.studies.conflicts.results import coverage_document
from support.samples.plan import MODULES, Sample

NAMES = (
    *("stack depth", "call site", "size", "call stack"),
    *("stack depth + size", "call site + size", "call stack + size"),
)
USAGE, BAD_INPUT = 111, 117
Capture = pytest.CaptureFixture[str]
Sizes = Sequence[tuple[int, int]]


def sample(
    *contexts: tuple[Sequence[int], Sizes],
    modules: Sequence[Module] = MODULES,
    swapped: bool = False,
) -> Sample:
    """Contexts by stack and sizes; if swapped, the ids of frames and modules are others."""
    found = Sample(tuple(reversed(modules)) if swapped else modules)
    at = 1 if swapped else 0
    found.distances = {(at, site): 16 * site for site in range(1, 9)} | {(at, 9): -1}
    for stack, sizes in reversed(contexts) if swapped else contexts:
        allocations = sum(count for _, count in sizes)
        found.add([(at, site) for site in stack], 1, allocations, list(sizes))
    return found


def measured(training: Sample, reference: Sample) -> dict[str, PredictorCoverage]:
    found = measure_coverage(training.profile(), reference.profile())
    return {it.predictor: it for it in found}


def states(found: PredictorCoverage) -> tuple[int, int, int]:
    return found.training, found.both, found.reference


@pytest.mark.parametrize(
    ("n", "m", "k", "coverage"),
    [(10, 2, 3, 0.615), (10, 0, 0, 1.0), (10, 10, 0, 0.0), (10, 5, -5, 1.0), (0, 0, 7, 0.0)],
)
def test_the_formula(n: int, m: int, k: int, coverage: float) -> None:
    """Yardımcı and Kaeli, section 3.1; k is negative if the reference run has fewer states."""
    assert state_coverage(both=n - m, reference=n + k) == pytest.approx(coverage, 1e-3)


def test_a_run_without_states_has_no_coverage() -> None:
    assert state_coverage(0, 0) == 0


def test_each_predictor_has_its_states() -> None:
    training = sample(([1, 2, 9], [(10, 1), (24, 3)]), ([3, 9], [(24, 4)]), ([4], [(64, 2)]))
    reference = sample(([1, 2, 9], [(16, 6)]), ([1, 5], [(24, 2)]), ([4], [(64, 2)]))
    found = measured(training, reference)
    assert tuple(found) == NAMES
    # Depths in units of 16: 3, 3 and 4 in training, then 3, 6 and 4.
    assert states(found["stack depth"]) == (2, 2, 3)
    assert states(found["call site"]) == (3, 2, 2)
    assert states(found["size"]) == (3, 3, 3)
    assert states(found["call stack"]) == (3, 2, 3)
    assert states(found["stack depth + size"]) == (3, 2, 3)
    assert states(found["call site + size"]) == (4, 3, 3)
    assert states(found["call stack + size"]) == (4, 2, 3)
    assert found["call stack"].coverage == pytest.approx(2 / 3)
    assert found["call stack"].allocations == 0.8


def test_sizes_are_rounded_up_to_eight() -> None:
    found = measured(sample(([1], [(1, 1), (9, 1), (16, 1)])), sample(([1], [(8, 1), (10, 1)])))
    assert states(found["size"]) == (2, 2, 2)


def test_frames_are_compared_by_module_and_offset() -> None:
    contexts: list[tuple[Sequence[int], Sizes]] = [([1, 2], [(8, 1)]), ([3, 2], [(16, 1)])]
    found = measured(sample(*contexts), sample(*contexts, swapped=True))
    assert all(it.coverage == 1 and it.allocations == 1 for it in found.values())
    other = (Module("/nowhere/program", "cc" * 20), MODULES[1])
    assert measured(sample(*contexts), sample(*contexts, modules=other))["call site"].both == 0


def test_modules_without_a_build_id_are_compared_by_path() -> None:
    unknown = (Module("/nowhere/program", ""), MODULES[1])
    training = sample(([1], [(8, 1)]), modules=unknown)
    assert measured(training, sample(([1], [(8, 1)]), modules=unknown))["call site"].both == 1


def test_sizes_that_are_not_listed_are_left_out() -> None:
    reference = Sample()
    reference.add([1], allocations=10, sizes=[(8, 4), (16, 1)])
    document = coverage_document(sample(([1], [(8, 1)])).profile(), reference.profile())
    by_name = {it.predictor: it for it in document.predictors}
    assert document.unlisted == 0.5
    assert by_name["size"].allocations == 0.8
    assert by_name["call site"].allocations == 1


def saved(path: Path, found: Sample, program: str = MODULES[0].path) -> str:
    document = found.document()
    document["program"] = {"path": program, "args": [path.name]}
    path.write_text(json.dumps(document))
    return str(path)


def test_the_command_prints_a_row_for_each_predictor(tmp_path: Path, capsys: Capture) -> None:
    training = saved(tmp_path / "train", sample(([1], [(8, 1)]), ([2], [(8, 1)])))
    reference = Sample()
    reference.add([1], allocations=4, sizes=[(8, 3)])
    output = tmp_path / "c.json"
    other = saved(tmp_path / "ref", reference)
    assert main(["eval", "coverage", training, other, "--json", str(output)]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    rows = [line.split() for line in shown.out.splitlines()]
    assert ["call", "site", "2", "1", "1", "100.0%", "100.0%"] in rows
    assert "does not list the sizes of 25.0% of the reference run's allocations" in shown.out
    found = convert(json.loads(output.read_text()), CoverageDocument)
    assert (found.format, found.version) == ("halo-coverage", 1)
    assert (found.training, found.reference) == (("train",), ("ref",))
    assert tuple(it.predictor for it in found.predictors) == NAMES


OTHER_BUILD = (Module(MODULES[0].path, "cc" * 20), MODULES[1])


@pytest.mark.parametrize(
    ("status", "sentence", "arguments"),
    [
        (BAD_INPUT, "are of different programs, /nowhere/program and /bin/other", ["one", "other"]),
        (BAD_INPUT, "are of different builds of /nowhere/program", ["one", "rebuilt"]),
        (BAD_INPUT, "is a directory", ["one", "one", "--json", "."]),
        (USAGE, "REF.profile", ["one"]),
        (USAGE, "takes two profiles and no program", ["one", "one", "--", "prog"]),
    ],
)
def test_refusals_are_one_sentence(
    status: int,
    sentence: str,
    arguments: list[str],
    tmp_path: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    saved(Path("one"), sample(([1], [(8, 1)])))
    saved(Path("other"), sample(([1], [(8, 1)])), "/bin/other")
    saved(Path("rebuilt"), sample(([1], [(8, 1)]), modules=OTHER_BUILD))
    assert main(["eval", "coverage", *arguments]) == status
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert sentence in shown.err


def test_links_to_one_program_are_the_same_program(tmp_path: Path, capsys: Capture) -> None:
    program, link = tmp_path / "program", tmp_path / "link"
    program.write_text("")
    link.symlink_to(program)
    training = saved(tmp_path / "train", sample(([1], [(8, 1)])), str(program))
    reference = saved(tmp_path / "ref", sample(([1], [(8, 1)])), str(link))
    assert main(["eval", "coverage", training, reference]) == 0
    assert "100.0%" in capsys.readouterr().out
