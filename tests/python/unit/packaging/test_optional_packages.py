"""Commands that need neither duckdb nor pyarrow do not import them: packages may lack them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.command import REPOSITORY

CODE = """
import sys
sys.path.insert(0, sys.argv[1])
import importlib
importlib.import_module(sys.argv[2])
sys.exit(", ".join({"duckdb", "pyarrow", "pyspark"} & set(sys.modules)) or 0)
"""


@pytest.mark.parametrize(
    "module", ["halo.cli.main", "halo.ship.doctor.checks", "halo.measure.run", "halo.report.page"]
)
def test_it_does_not_import_them(module: str) -> None:
    command = [sys.executable, "-I", "-c", CODE, str(REPOSITORY), module]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
