"""A copied or moved checkout builds its own sources, though its build folder came with it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.command import REPOSITORY

# Instead of halo's own, which would take minutes: builds `built` from `source`.
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
option(HALO_WERROR "Make warnings errors" OFF)
set(source ${CMAKE_SOURCE_DIR}/source)
add_custom_command(OUTPUT built COMMAND cmake -E copy ${source} built DEPENDS ${source})
add_custom_target(everything ALL DEPENDS built)
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "first"
    shutil.copytree(REPOSITORY / "scripts", folder / "scripts")
    (folder / "CMakeLists.txt").write_text(PROJECT)
    (folder / "build").mkdir()
    return folder


def build(checkout: Path, werror: str = "") -> str:
    """What was built, of a source that names the checkout; HALO_WERROR is `werror`."""
    (checkout / "source").write_text(checkout.name)
    environment = os.environ | {"HALO_WERROR": werror}
    command = [checkout / "scripts" / "build.sh"]
    subprocess.run(command, check=True, capture_output=True, env=environment)
    return (checkout / "build" / "built").read_text()


def test_a_copied_and_a_moved_checkout_build_their_own_sources(checkout: Path) -> None:
    assert build(checkout) == "first"
    copy = checkout.with_name("copy")
    shutil.copytree(checkout, copy)
    assert build(copy) == "copy"
    assert (checkout / "build" / "built").read_text() == "first"
    moved = checkout.rename(checkout.with_name("moved"))
    assert build(moved) == "moved"


def test_a_built_checkout_is_configured_again_for_another_werror_only(checkout: Path) -> None:
    log = checkout / "build" / "configure.log"

    def configured(werror: str) -> bool:
        log.unlink(missing_ok=True)
        build(checkout, werror)
        return log.exists()

    wanted = ["", "", "ON", "ON", "", "OFF"]
    assert [configured(werror) for werror in wanted] == [True, False, True, False, False, True]
