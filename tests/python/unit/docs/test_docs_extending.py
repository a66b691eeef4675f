"""The examples in docs/extending.md work: the command, the figure and the analysis."""

from __future__ import annotations

import argparse
import re
import types
from pathlib import Path

import pytest

from halo.base.console.outcome import status_of
from halo.base.settings import read_settings
from halo.record.profile import write_profile
from halo.report.figures.base import FigureOptions
from halo.studies.tracing.analyses import Request, open_folder, run_analysis
from support.command import REPOSITORY
from support.samples.plan import Sample
from support.samples.results import document, save
from support.samples.trace import scan_of_wide_structures


def example(section: str) -> types.ModuleType:
    """The Python code of a section, as a module."""
    text = (REPOSITORY / "docs" / "extending.md").read_text()
    code = re.search(rf"## {section}\n.*?```python\n(.*?)```", text, re.DOTALL)
    assert code is not None
    module = types.ModuleType(section)
    exec(compile(code.group(1), "extending.md", "exec"), module.__dict__)
    return module


def test_the_documented_command_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = example("A command")
    sample = Sample()
    sample.add([16, 32])
    sample.add([17, 32])
    profile = tmp_path / "sample.profile"
    write_profile(sample.profile(), profile)
    command = module.ContextsCommand()
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    settings = read_settings()
    good = parser.parse_args([str(profile)])
    assert status_of(lambda: command.run(settings, good, []), debug=False) == 0
    assert capsys.readouterr().out == "2\n"
    missing = parser.parse_args([str(tmp_path / "missing")])
    assert status_of(lambda: command.run(settings, missing, []), debug=False) != 0


def test_the_documented_figure_is_drawn(tmp_path: Path) -> None:
    figure = example("A figure").MemoryFigure()
    results = save(document(), tmp_path / "results")
    drawn = figure.make([results], FigureOptions(), "svg").decode()
    assert ">Peak memory<" in drawn and ">halo<" in drawn


def test_the_documented_analysis_runs(tmp_path: Path) -> None:
    analysis = example("An analysis of traces").Types()
    folder = open_folder(scan_of_wide_structures(10).write(tmp_path / "columns"))
    answer = run_analysis(analysis, folder, Request(tmp_path))
    assert answer.report.columns == ("type", "accesses")
    assert answer.report.rows == (("long", 40),)
