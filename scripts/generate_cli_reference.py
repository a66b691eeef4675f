"""Writes usage lines and option tables into docs/cli.md, from the parser of the command line.

generate_cli_reference.py [--check]: with --check, exit status 1 if the page is not what it would
write. The page marks what is generated, in the order of `halo/cli/__init__.py`:
`<!-- generated: halo COMMAND -->` to `<!-- end -->`; `halo` alone is the list of commands.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from halo.cli.registry import Command, every_command  # noqa: E402

PAGE = REPOSITORY / "docs" / "cli.md"
REGION = re.compile(r"(<!-- generated: (halo[^>]*?) -->\n).*?(<!-- end -->\n)", re.DOTALL)


def commands_table() -> str:
    """All commands with their summaries, in that order."""
    rows = [
        f"| [`halo {words}`](#halo-{words.replace(' ', '-')}) | {_cell(command.summary)} |\n"
        for words, command in every_command()
    ]
    return "".join(["| command | purpose |\n| --- | --- |\n", *rows])


def reference(command: Command) -> str:
    """Usage, options and examples of a command."""
    parser = argparse.ArgumentParser(add_help=False)
    command.add_arguments(parser)
    usage = command.usage.replace(" | halo ", "\n    halo ")
    rows = [f"| {_names(action)} | {_meaning(action)} |\n" for action in parser._actions]
    table = ["\n| option | meaning |\n| --- | --- |\n", *rows] if rows else []
    examples = "".join(f"    {example}\n" for example in command.examples)
    text = f"{_cell(command.summary)}\n\n    {usage}\n{''.join(table)}"
    return f"{text}\nFor instance:\n\n{examples}"


def _names(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{_code(str(action.metavar))}`"
    value = _value(action)
    return ", ".join(f"`{_code(name + value)}`" for name in action.option_strings)


def _value(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    name = action.metavar or "|".join(map(str, action.choices or ())) or action.dest.upper()
    return f"[={name}]" if action.nargs == "?" else f" {name}"


def _meaning(action: argparse.Action) -> str:
    assert action.help, f"{action.dest} has no help text"
    return _cell(action.help % vars(action))


def _code(text: str) -> str:
    return text.replace("|", "\\|")


def _cell(text: str) -> str:
    """Text of a help message as Markdown: nothing in it is markup but code in backquotes."""
    parts = re.split(r"(`[^`]*`)", text)
    plain = [re.sub(r"([*_<])", r"\\\1", part) for part in parts[::2]]
    parts[::2] = plain
    return _code("".join(parts))


def fill(page: str) -> str:
    """The page with its generated regions made again; ValueError if one is missing or misplaced."""
    known = {f"halo {words}": command for words, command in every_command()}
    wanted = ["halo", *known]
    found = [match[2] for match in REGION.finditer(page)]
    if found != wanted:
        raise ValueError(f"the regions of {PAGE.name} should be, in this order: {wanted}")

    def generate(match: re.Match[str]) -> str:
        name = match[2]
        text = commands_table() if name == "halo" else reference(known[name])
        return f"{match[1]}\n{text}\n{match[3]}"

    return REGION.sub(generate, page)


def main() -> int:
    page = PAGE.read_text()
    try:
        text = fill(page)
    except ValueError as error:
        print(error)
        return 1
    if text == page:
        return 0
    if "--check" in sys.argv[1:]:
        print("docs/cli.md differs from the parser; run: .venv/bin/python " + sys.argv[0])
        return 1
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
