"""The command in docs/extending.md is a command."""

from __future__ import annotations

import argparse
import re
import types

import pytest
from command import REPOSITORY
from plan_samples import Sample

from halo.commands import run_command
from halo.profile import write_profile
from halo.settings import read_settings


def test_the_documented_command_runs(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (REPOSITORY / "docs" / "extending.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert code is not None
    module = types.ModuleType("contexts_example")
    exec(compile(code.group(1), "extending.md", "exec"), module.__dict__)
    sample = Sample()
    sample.add([16, 32])
    sample.add([17, 32])
    profile = tmp_path / "sample.profile"
    write_profile(sample.profile(), profile)
    command = module.ContextsCommand()
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    assert run_command(command, read_settings(), parser.parse_args([str(profile)]), []) == 0
    assert capsys.readouterr().out == "2\n"
    missing = parser.parse_args([str(tmp_path / "missing")])
    assert run_command(command, read_settings(), missing, []) != 0
