"""Writes the manual pages, from the commands of the command line.

generate_manual.py FOLDER: a page in section 1 for each command, for each group, for halo itself
and for its compilers. Needs a package of the extra `manual` (pyproject.toml).
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from argparse_manpage.manpage import Manpage  # noqa: E402

from halo import __version__  # noqa: E402
from halo.cli.main import build_parser  # noqa: E402
from halo.cli.registry import Command, every_command, every_group  # noqa: E402

COMPILERS = {"halo-cc": "C", "halo-c++": "C++"}
# The options that scripts/halo-cc.in reads: name, value, meaning.
COMPILER_OPTIONS = (
    ("function", "GLOB", "log only events in these functions"),
    ("type", "GLOB", "log only accesses to values of these types"),
    ("file", "GLOB", "log only events in these source files"),
    ("event", "GLOB", "log only these events: access, read, write, call, allocation"),
    ("allocators", "FILE", "list of the program's own allocators"),
    (
        "hints",
        "FILE",
        "pass these hints, of halo study hints, to Tidy; the program is then not traced",
    ),
)


def pages() -> Iterator[tuple[str, str]]:
    """The name and the text of every page."""
    everything = [(words, command.summary) for words, command in every_command()]
    description = build_parser([]).description or ""
    yield "halo", _overview("halo", description, everything, [*COMPILERS])
    for words, group in every_group():
        listed = [(f"{words} {it.name}", it.summary) for it in group.commands]
        yield _name_of(words), _overview(f"halo {words}", group.summary, listed)
    for words, command in every_command():
        yield _name_of(words), _of_command(words, command)
    for name, language in COMPILERS.items():
        yield name, _of_compiler(name, language)


def _overview(
    words: str, summary: str, commands: Sequence[tuple[str, str]], others: Sequence[str] = ()
) -> str:
    """The page of halo or of a group: its commands with their summaries."""
    parser = _parser(summary)
    if words == "halo":
        version = build_parser([])._option_string_actions["--version"]
        parser.add_argument("--version", action="store_true", help=version.help)
    listed = parser.add_argument_group("commands")
    for name, of_command in commands:
        listed.add_argument(name.replace(" ", "_"), metavar=f"halo {name}", help=of_command)
    related = [*(_name_of(name) for name, _ in commands), *others]
    return _page(words, summary, parser, [f"{words} COMMAND [OPTIONS] [-- PROG ARGS]"], related)


def _of_command(words: str, command: Command) -> str:
    parser = _parser(command.summary)
    command.add_arguments(parser)
    first, *others = command.usage.split(" | halo ")
    forms = [first, *(f"halo {form}" for form in others)]
    group = words.rpartition(" ")[0]
    return _page(f"halo {words}", command.summary, parser, forms, _above(group))


def _of_compiler(name: str, language: str) -> str:
    parser = _parser(
        f"{name} accepts all arguments of clang, and these options. The program writes a trace when"
        " it is run by halo study trace run. A GLOB that begins with ! excludes."
    )
    for key, value, meaning in COMPILER_OPTIONS:
        parser.add_argument(f"--halo-{key}={value}", action="store_true", help=meaning)
    summary = f"compile a {language} program that halo can trace, or that has hints."
    forms = [f"{name} [OPTIONS] CLANG-ARGUMENTS"]
    return _page(name, summary, parser, forms, ["halo", "halo-trace-run", "halo-hints", "clang"])


def _parser(description: str) -> argparse.ArgumentParser:
    # One line for each text, whatever the width of this terminal: man fills them.
    whole = functools.partial(argparse.HelpFormatter, width=1 << 20)
    return argparse.ArgumentParser(description=description, formatter_class=whole)


def _page(
    words: str,
    summary: str,
    parser: argparse.ArgumentParser,
    forms: Sequence[str],
    related: Sequence[str],
) -> str:
    parser.prog = words.replace(" ", "-")  # man knows pages by words with hyphens
    page = Manpage(parser)
    page.source = f"halo {__version__}"
    page.manual = "halo"
    page.description = summary[:1].lower() + summary[1:].rstrip(".")
    page.add_section("synopsis", "=", "\n.br\n".join(map(_escaped, forms)))
    page.add_section("see also", "=", ",\n".join(f".BR {_escaped(it)} (1)" for it in related))
    return str(page)


def _above(group: str) -> list[str]:
    return ["halo", *([_name_of(group)] if group else [])]


def _name_of(words: str) -> str:
    return f"halo-{words.replace(' ', '-')}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("-", "\\-")


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages():
        (folder / f"{name}.1").write_text(text)


if __name__ == "__main__":
    main()
