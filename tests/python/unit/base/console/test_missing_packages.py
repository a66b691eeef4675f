"""A missing Python package is a sentence with the command that installs it."""

from __future__ import annotations

import pytest

from halo.base.console.outcome import known


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("duckdb", "duckdb"),
        ("pyarrow.parquet", "pyarrow"),
        ("matplotlib>=3.8", "matplotlib>=3.8"),
    ],
)
def test_the_sentence_names_the_package(module: str, package: str) -> None:
    failure = known(ModuleNotFoundError(name=module), lambda name: f"install {name}")
    assert failure is not None and failure.exit_status == 114
    assert str(failure) == f"The Python package {package} is missing; run: install {package}"


def test_a_missing_part_of_halo_itself_is_an_internal_error() -> None:
    assert known(ModuleNotFoundError(name="halo.nothing"), str) is None
