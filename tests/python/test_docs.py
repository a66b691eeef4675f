"""The docs tell the truth: links and paths lead somewhere, statuses, commands and options exist."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest
from command import REPOSITORY

from halo import errors
from halo.cli import build_parser
from halo.commands import COMMANDS
from halo.settings import read_settings

PAGES = sorted([REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")])
FOLDERS = "bench|docs|halo|scripts|src|tests"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
        if not link.startswith(("http:", "https:", "mailto:")):
            assert (page.parent / link).exists(), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_exist(page: Path) -> None:
    """Paths in backquotes that start with a folder of ours; `…` and placeholders are left out."""
    for path in re.findall(rf"`((?:{FOLDERS})/[\w./+-]+)`", page.read_text()):
        if "NAME" not in path:
            assert (REPOSITORY / path).exists(), path


def test_every_exit_status_is_documented() -> None:
    text = (REPOSITORY / "docs" / "exit-status.md").read_text()
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, Exception)]
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", text, re.MULTILINE)
    assert {(str(kind.exit_status), kind.__name__) for kind in kinds} == set(rows)
    assert len({kind.exit_status for kind in kinds}) == len(kinds)


def test_every_command_and_option_is_documented() -> None:
    text = (REPOSITORY / "docs" / "cli.md").read_text()
    readme = (REPOSITORY / "README.md").read_text()
    for command in COMMANDS:
        assert f"## `{command.usage}`" in text
        assert f"`halo {command.name}" in readme
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        for action in parser._actions:
            for option in action.option_strings:
                if option not in ("-h", "--help"):
                    assert option in text, f"{command.name} {option}"


def test_every_documented_option_exists() -> None:
    text = (REPOSITORY / "docs" / "cli.md").read_text()
    known = {"--help", "--version"}
    for command in COMMANDS:
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        known |= {option for action in parser._actions for option in action.option_strings}
    compilers = (REPOSITORY / "scripts" / "halo-cc.in").read_text()
    known |= {f"--halo-{key}" for key in re.findall(r"\b([a-z]+)=\?\*", compilers)}
    assert set(re.findall(r"`?(--[a-z][a-z-]*)", text)) <= known
    assert build_parser([]).prog == "halo"


def test_every_variable_that_halo_reads_is_documented() -> None:
    source = Path(read_settings.__code__.co_filename).read_text()
    text = (REPOSITORY / "docs" / "cli.md").read_text()
    for variable in set(re.findall(r"HALO_[A-Z]+", source)):
        assert f"| `{variable}` |" in text


def test_the_environment_is_read_in_one_place() -> None:
    for path in (REPOSITORY / "halo").rglob("*.py"):
        if path.name != "settings.py":
            assert not re.search(r"os\.(environ|getenv)", path.read_text()), path
