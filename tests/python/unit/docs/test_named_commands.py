"""Every `halo ...` command that a message or a page names exists, with its options."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from halo.cli.registry import every_command, every_group
from support.command import REPOSITORY

COMMANDS = dict(every_command())
FOLDERS = {words for words, _ in every_group()}
# Words after the name of the project that make no command of it; verbs in -s are others.
WORDS = re.compile(
    r"again|alone|also|an|and|are|as|at|because|before|below|but|by|can|cannot|cc|command|did|for|"
    r"from|had|halo|help|hot|if|import|in|instead|itself|loaded|may|more|must|not|of|on|only|or|"
    r"over|program|ran|recorded|should|that|the|then|to|under|version|was|will|with"
)
NAMED = re.compile(r"(?<![\w./'-])(?:bin/)?halo ([a-z][a-z-]*(?: [a-z][a-z-]*)*)([^`\n;]*)")
LISTED = re.compile(r"^((?:, [a-z]+)*),? (?:or|and) ([a-z]+)(?=[.,;:)]|$)")
OPTION = re.compile(r"(?<=[ `(\[])(--[a-z][a-z-]*)")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
CODE = re.compile(r"`([^`]+)`|^ {4,}(.*halo .*)$", re.MULTILINE)


@cache
def options_of(words: str) -> frozenset[str]:
    parser = argparse.ArgumentParser()
    COMMANDS[words].add_arguments(parser)
    return frozenset(name for action in parser._actions for name in action.option_strings)


def wrong(text: str) -> list[str]:
    """The commands and options in a text that do not exist."""
    found = []
    for named, rest in NAMED.findall(text):
        first, *others = named.split(" ")
        words = first
        while words in FOLDERS and others:
            words = f"{words} {others.pop(0)}"
        if words not in COMMANDS:
            prose = WORDS.fullmatch(first) or (first.endswith("s") and first not in FOLDERS)
            found += [] if words in FOLDERS or prose else [f"halo {words}"]
            continue
        tail = " ".join(["", *others] if others else []) + rest
        if listed := LISTED.match(tail):
            names = [*filter(None, listed[1].split(", ")), listed[2]]
            beside = words.rpartition(" ")[0]
            full = [f"{beside} {name}".strip() for name in names]
            found += [f"halo {it}" for it in full if it not in COMMANDS and it not in FOLDERS]
        of_halo = re.split(r" -- |[.:|,] | (?:bin/)?halo ", tail)[0]
        known = options_of(words) | {"--help"}
        found += [f"halo {words} {name}" for name in OPTION.findall(of_halo) if name not in known]
    return found


def python_texts(path: Path) -> Iterator[str]:
    """The texts of a module without its docstrings; other values in them are `{}`."""
    tree = ast.parse(path.read_text())
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) in prose:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(map(_part, node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield " ".join(node.value.split())


def _part(part: ast.expr) -> str:
    """A part of an f-string: `settings.command` and the like stand for halo's own command."""
    if isinstance(part, ast.FormattedValue):
        return "halo" if ast.unparse(part.value) in ("settings.command", "halo") else "{}"
    return str(part.value) if isinstance(part, ast.Constant) else ""


def native_texts(path: Path) -> Iterator[str]:
    """The string literals of a file, joined where they follow each other."""
    joined = re.sub(r'"\s*\n\s*"', "", path.read_text())
    yield from (text for text in LITERAL.findall(joined))


def page_texts(path: Path) -> Iterator[str]:
    """The code in a page: what is in backquotes, and indented lines with a command."""
    for spans in CODE.findall(path.read_text()):
        yield from (" ".join(span.split("#")[0].split()) for span in spans)


def below(folder: str, *endings: str) -> list[Path]:
    return [it for it in (REPOSITORY / folder).rglob("*") if it.suffix in endings]


@pytest.mark.parametrize("folder", ["halo", "bench", "scripts"])
def test_messages_name_commands_that_exist(folder: str) -> None:
    texts = [(p, text) for p in below(folder, ".py") for text in python_texts(p)]
    assert texts
    assert {f"{path.name}: {name}" for path, text in texts for name in wrong(text)} == set()


def test_native_messages_name_commands_that_exist() -> None:
    texts = [(p, text) for p in below("src", ".cc", ".h", ".c") for text in native_texts(p)]
    assert any("halo record" in text for _, text in texts)
    assert {f"{path.name}: {name}" for path, text in texts for name in wrong(text)} == set()


def test_pages_name_commands_that_exist() -> None:
    pages = [REPOSITORY / "README.md", *below("docs", ".md"), *below("bench", ".md")]
    texts = [(page, text) for page in pages for text in page_texts(page)]
    assert sum("halo " in text for _, text in texts) > 200
    assert {f"{page.name}: {name}" for page, text in texts for name in wrong(text)} == set()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("give a results folder of halo run, bench or evaluate.", ["halo evaluate"]),
        ("give a results folder of halo run, bench or study.", []),
        ("see `halo evaluate`", ["halo evaluate"]),
        ("halo study heap detects", ["halo study heap detects"]),
        ("repeat it with: halo probe --minutes 3 -- prog --size 4", ["halo probe --minutes"]),
        ("bin/halo study heap age --occupancy 0.5 --jsn x -- p", ["halo study heap age --jsn"]),
        ("halo places objects, and halo was there", []),
    ],
)
def test_what_counts_as_a_command(text: str, names: list[str]) -> None:
    assert wrong(text) == names


# Options in the plural that take something else than the singular of another command.
OTHERS = {
    "--classes": "kinds of misses, or of objects to confine",
    "--seeds": "how many",
    "--types": "names, where --type takes a pattern",
}


def test_one_thing_has_one_name_in_all_commands() -> None:
    """No option is the plural of another; older names come after the name that all share."""
    names: dict[str, set[str]] = {}
    for words, command in COMMANDS.items():
        parser = argparse.ArgumentParser(add_help=False)
        command.add_arguments(parser)
        for action in parser._actions:
            first = next((name for name in action.option_strings if name.startswith("--")), None)
            if first is not None:
                names.setdefault(first, set()).add(words)
    assert len(names) > 60
    plurals = {
        name
        for name in names
        for ending, singular in (("s", ""), ("es", ""), ("ies", "y"))
        if name.endswith(ending) and name[: -len(ending)] + singular in names
    }
    assert plurals == set(OTHERS)
    assert "study heap age" in names["--occupancy"] and "study heap litter" in names["--occupancy"]
    assert {"study conflicts", "study trace split"} <= names["--rows"] & names["--picture"]
