"""Writes a page with the usage, the options and the examples of every command, from its parser.

generate_cli_reference.py FILE; `make docs` writes build/docs/commands.md.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from halo.cli.registry import Command, every_command  # noqa: E402

HEAD = """# Commands and options

What `halo COMMAND --help` prints, for all commands. `docs/cli.md` describes them.

"""


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


def generate() -> str:
    """The page."""
    sections = [f"\n## halo {words}\n\n{reference(it)}" for words, it in every_command()]
    return "".join([HEAD, commands_table(), *sections])


def main() -> None:
    output = Path(sys.argv[1])
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(generate())


if __name__ == "__main__":
    main()
