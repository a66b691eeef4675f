"""The generated manual pages and completions cover every command and option."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from halo.cli.registry import every_command, every_group
from support.command import REPOSITORY, load_module

SCRIPTS = REPOSITORY / "scripts" / "packaging"
MANUAL = load_module(SCRIPTS / "generate_manual.py", "generate_manual")
COMPLETIONS = load_module(SCRIPTS / "generate_completions.py", "generate_completions")
PAGES = {name: text.replace("\\-", "-") for name, text in MANUAL.pages()}
BY_SHELL = dict(zip(COMPLETIONS.FILES, dict(COMPLETIONS.completions()).values(), strict=True))


def options_of(words: str) -> list[argparse.Action]:
    parser = argparse.ArgumentParser(add_help=False)
    dict(every_command())[words].add_arguments(parser)
    return parser._actions


def test_each_command_and_group_has_a_page_and_there_are_no_others() -> None:
    commands = {f"halo-{words.replace(' ', '-')}" for words, _ in every_command()}
    groups = {f"halo-{words.replace(' ', '-')}" for words, _ in every_group()}
    assert set(PAGES) == {"halo", "halo-cc", "halo-c++"} | commands | groups


@pytest.mark.parametrize("words", [words for words, _ in every_command()])
def test_a_page_has_the_usage_and_every_option(words: str) -> None:
    page = PAGES[f"halo-{words.replace(' ', '-')}"]
    first = dict(every_command())[words].usage.split(" | ")[0]
    assert f".SH SYNOPSIS\n{first}" in page
    for action in options_of(words):
        assert action.help is not None
        entry = f"\n{action.help % vars(action)}\n".replace("\\", "\\\\")
        assert " ".join(entry.split()) in " ".join(page.split()), action.dest
        for name in action.option_strings:
            assert rf"\fB{name}\fR" in page


def test_the_page_of_halo_leads_to_all_others() -> None:
    related = set(re.findall(r"^\.BR (\S+) \(1\)", PAGES["halo"], re.MULTILINE))
    commands = {name for name in PAGES if name != "halo"}
    assert related == commands - {f"halo-{words.replace(' ', '-')}" for words, _ in every_group()}
    for words, command in every_command():
        assert f"\\fBhalo {words}\\fR\n{command.summary}\n" in PAGES["halo"]


def test_the_page_of_a_compiler_has_the_options_that_it_reads() -> None:
    read = set(re.findall(r"\b([a-z]+)=\?\*", (REPOSITORY / "scripts" / "halo-cc.in").read_text()))
    for name in ("halo-cc", "halo-c++"):
        assert set(re.findall(r"\\fB--halo-(\w+)=", PAGES[name])) == read


def test_no_line_of_a_page_is_a_request_by_accident() -> None:
    requests = {"TH", "SH", "TP", "BR", "br"}
    for name, page in PAGES.items():
        for line in page.splitlines():
            assert not line.startswith("'"), (name, line)
            assert not line.startswith(".") or line[1:3] in requests, (name, line)


@pytest.mark.parametrize("shell", COMPLETIONS.FILES)
@pytest.mark.parametrize("words", [words for words, _ in every_command()])
def test_a_completion_knows_every_option(shell: str, words: str) -> None:
    for action in options_of(words):
        for name in action.option_strings:
            spelt = name.lstrip("-") if shell == "fish" else name
            assert re.search(rf"(?<![\w]){re.escape(spelt)}(?![\w-])", BY_SHELL[shell]), name


def test_files_are_where_the_shells_search(tmp_path: Path) -> None:
    names = [file for file, _ in COMPLETIONS.completions()]
    assert names == [
        "bash-completion/completions/halo",
        "zsh/site-functions/_halo",
        "fish/vendor_completions.d/halo.fish",
    ]
