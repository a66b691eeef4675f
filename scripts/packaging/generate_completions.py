"""Writes the completions of the shells bash, zsh and fish, from the parser of the command line.

generate_completions.py SHARE: each file is in the folder below SHARE in which its shell searches.
Needs a package of the extra `manual` (pyproject.toml).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

import shtab  # noqa: E402

from halo.cli.main import build_parser  # noqa: E402
from halo.cli.registry import every_command  # noqa: E402

FILES = {
    "bash": "bash-completion/completions/halo",
    "zsh": "zsh/site-functions/_halo",
    "fish": "fish/vendor_completions.d/halo.fish",
}

# After `--` come a program and its arguments, which the parser does not know.
BASH_PROGRAM = """
_halo() {
  local index start=0
  for ((index = 1; index < COMP_CWORD; index++)); do
    [[ ${COMP_WORDS[index]} == -- ]] && start=$((index + 1))
  done
  if ((start == 0)); then
    _shtab_halo
  elif ((start == COMP_CWORD)); then
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -A command -A file -- "${COMP_WORDS[COMP_CWORD]}" | sort -u)
  elif declare -F _comp_command_offset >/dev/null; then
    _comp_command_offset "$start"
  elif declare -F _command_offset >/dev/null; then
    _command_offset "$start"
  fi
}

complete -o bashdefault -o default -F _halo halo
"""


def completions() -> Iterator[tuple[str, str]]:
    """The file below SHARE and the text of each shell's completion."""
    parser = build_parser([command.name for _, command in every_command()])
    for one in _with_inner(parser):
        for action in one._actions:
            if action.type is Path:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    for shell, file in FILES.items():
        text = shtab.complete(parser, shell)
        yield file, text + (BASH_PROGRAM if shell == "bash" else "")


def _with_inner(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _with_inner(inner)


def main() -> None:
    for file, text in completions():
        path = Path(sys.argv[1]) / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
