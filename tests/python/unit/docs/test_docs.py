"""The docs are correct: links and paths exist, and so do statuses, commands and options."""

from __future__ import annotations

import argparse
import re
import tomllib
from pathlib import Path

import pytest

from halo.base import errors
from halo.base.settings import read_settings
from halo.cli.main import build_parser
from halo.cli.registry import every_command
from support.command import REPOSITORY, load_module

PAGES = sorted([REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")])
GENERATOR = load_module(REPOSITORY / "scripts" / "generate_cli_reference.py", "cli_reference")
FOLDERS = "bench|docs|fuzz|halo|scripts|src|tests"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
        if not link.startswith(("http:", "https:", "mailto:")):
            assert (page.parent / link).exists(), link


def anchors(page: Path) -> set[str]:
    """Of the headings of a page, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", it.lower()).replace(" ", "-") for it in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_anchors_are_headings(page: Path) -> None:
    for link, anchor in re.findall(r"\]\(([^)#:]*)#([^)]*)\)", page.read_text()):
        target = page.parent / link if link else page
        if target.suffix == ".md":
            assert anchor in anchors(target), f"{link}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_exist(page: Path) -> None:
    """Paths in backquotes that start with a folder of ours; `…` and placeholders are left out."""
    for path in re.findall(rf"`((?:{FOLDERS})/[\w./+-]+)`", page.read_text()):
        if "NAME" not in path:
            assert (REPOSITORY / path).exists(), path


def test_every_exit_status_is_documented() -> None:
    text = (REPOSITORY / "docs" / "exit-status.md").read_text()
    kinds = [
        k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, errors.HaloError)
    ]
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", text, re.MULTILINE)
    assert {(str(kind.exit_status), kind.__name__) for kind in kinds} == set(rows)
    assert len({kind.exit_status for kind in kinds}) == len(kinds)


def test_the_generated_page_has_every_command_and_option() -> None:
    head, *sections = re.split(r"^## ", GENERATOR.generate(), flags=re.MULTILINE)
    texts = dict(section.split("\n", 1) for section in sections)
    assert list(texts) == [f"halo {words}" for words, _ in every_command()]
    page = (REPOSITORY / "docs" / "cli.md").read_text()
    for words, command in every_command():
        name = f"halo {words}"
        assert f"| [`{name}`](#{name.replace(' ', '-')}) | {command.summary} |" in head
        assert all(f"\n    {example}\n" in texts[name] for example in command.examples)
        assert re.search(rf"^##+ {name}$|`{name}`", page, re.MULTILINE), name
        parser = argparse.ArgumentParser(add_help=False)
        command.add_arguments(parser)
        rows = re.findall(r"^\| (`.+`) \| \w.+ \|$", texts[name], re.MULTILINE)
        assert len(rows) == len(parser._actions), name
        for row, action in zip(rows, parser._actions, strict=True):
            named = re.findall(r"`([^ `=\[]+)[^`]*`", row.replace("\\|", "|"))
            assert named == (action.option_strings or [str(action.metavar)]), row


def test_an_option_needs_a_help_text() -> None:
    class Silent:
        name, summary, usage, examples = "silent", "say nothing", "halo silent", ()

        def __init__(self, text: str | None) -> None:
            self.text = text

        def add_arguments(self, parser: argparse.ArgumentParser) -> None:
            parser.add_argument("--quietly", action="store_true", help=self.text)

    assert "| `--quietly` | as well |" in GENERATOR.reference(Silent("as well"))
    for text in (None, ""):
        with pytest.raises(AssertionError, match="quietly has no help text"):
            GENERATOR.reference(Silent(text))


def test_every_documented_option_exists() -> None:
    pages = ("cli.md", "measuring.md", "figures.md", "doctor.md", "exit-status.md")
    text = "".join((REPOSITORY / "docs" / page).read_text() for page in pages)
    known = {"--help", "--version"}
    for _, command in every_command():
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


def test_no_text_installs_halo_from_a_package_index() -> None:
    """`halo` there is another project; the checkout is installed by its path."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert project["name"] == "halo-placement" and set(project["scripts"]) == {"halo"}
    foreign = re.compile(r"""\bpip3?\b.*\binstall\s+(-\S+\s+)*['"]?halo\b""")
    assert foreign.search("pip install 'halo[spark]'") and foreign.search("-m pip install -U halo")
    texts = [path for folder in ("halo", "scripts") for path in (REPOSITORY / folder).rglob("*")]
    for path in [*PAGES, *(path for path in texts if path.suffix in (".py", ".sh", ".in", ".md"))]:
        assert not foreign.search(path.read_text()), path


def test_the_front_page_names_commands_that_exist() -> None:
    known = {words.split()[0] for words, _ in every_command()}
    named = set(re.findall(r"`halo ([a-z]+)", (REPOSITORY / "README.md").read_text()))
    assert len(named) > 5
    assert named <= known


def test_the_map_leads_to_every_page() -> None:
    text = (REPOSITORY / "docs" / "README.md").read_text()
    for page in (REPOSITORY / "docs").glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in text, page
