"""Reads the command line of a dynamic loader that is run as a program."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

# The options that have a value, and the variable that has the same effect.
_VALUED = {
    "--library-path": "LD_LIBRARY_PATH",
    "--preload": "LD_PRELOAD",
    "--audit": "LD_AUDIT",
    "--inhibit-rpath": "",
    "--argv0": "",
    "--glibc-hwcaps-prepend": "",
    "--glibc-hwcaps-mask": "",
}


def loader_sentence(name: str, arguments: Sequence[str]) -> str:
    """The refusal of the loader, with the program that its arguments name."""
    place = 0
    variables = []
    while place < len(arguments) and arguments[place].startswith("--"):
        option = arguments[place]
        place += 2 if option in _VALUED else 1
        if _VALUED.get(option) and place <= len(arguments):
            variables.append(f"{_VALUED[option]}={shlex.quote(arguments[place - 1])}")
    if place >= len(arguments):
        return (
            f"{name} is the dynamic loader, which only loads another program; give that one:"
            " -- PROG ARGS"
        )
    sentence = (
        f"{name} is the dynamic loader, which only loads another program, {arguments[place]}; give"
        f" that one: -- {shlex.join(arguments[place:])}"
    )
    if variables:
        sentence += f" (with {' '.join(variables)} before `halo`)"
    return sentence
