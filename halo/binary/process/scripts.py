"""Finds the program behind a script, from its text: its interpreter, or what it starts.

Executes nothing. Only what gets the arguments of the script stands for it: any other command, such
as one that removes files, must not be suggested.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

_BYTES = 64 * 1024  # of a script that are read
_DEPTH = 4  # scripts that start scripts
_SHELL = re.compile(r"(ba|da|k|z|a|c|tc)?sh")
_COMMENTS = re.compile(r"^\s*#.*$|\\\n", re.MULTILINE)
# Where a command of a shell may begin, a command that names all arguments or elements.
_EXEC = re.compile(
    r"(?:^|[;&|({)]|\b(?:then|else|do)\b)[ \t]*exec[ \t]+([^;\n]*@[^;\n]*)", re.MULTILINE
)
_PASSES = re.compile(
    r"(?:-a\s+\S+\s+)?([^@$`~*?\\<>&|();#]+)\s"  # words without variables and patterns
    r"(?:\"\$@\"|\$@|\$\{1\+\"\$@\"\})(?:\s*\d?[<>|&)}].*|\s+#.*|\s*)"
)


class Found(Enum):
    """How a program stands for a script."""

    INTERPRETER = 0
    STARTED = 1
    NEXT_OF_NAME = 2  # in PATH, behind the script


@dataclass(frozen=True)
class ScriptCall:
    """How to call what stands for a script; the arguments of the script follow."""

    command: Sequence[str]
    found: Found


def interpreter_of(start: bytes) -> str:
    """The command of a script's first line, without `env`; `start` is its beginning."""
    words = start[2:].partition(b"\n")[0].decode("utf-8", "replace").split()
    if words and words[0].endswith("/env"):
        words = words[2:] if words[1:2] == ["-S"] else words[1:]
    return " ".join(words) or "INTERPRETER"


def call_of_script(script: Path, environment: Mapping[str, str]) -> ScriptCall:
    """The program that a script starts, or that it may start; else the script's interpreter."""
    command = _last_started(script, environment)
    last = Path(command[0])
    if last != script and _is_native(last):
        return ScriptCall(command, Found.STARTED)
    unclear = last == script and _is_shell_script(_text(script))
    behind = _next_of_name(script, environment) if unclear else None
    if behind is not None:
        return ScriptCall([str(behind)], Found.NEXT_OF_NAME)
    words = interpreter_of(_text(last).encode("utf-8", "surrogateescape")).split()
    return ScriptCall([*words, *command], Found.INTERPRETER if last == script else Found.STARTED)


def _last_started(script: Path, environment: Mapping[str, str]) -> list[str]:
    """The command that a shell script ends in, through all shell scripts; itself if unclear."""
    command = [str(script)]
    for _ in range(_DEPTH):
        text = _text(Path(command[0]))
        if not _is_shell_script(text):
            return command
        started = _started(text, environment)
        if started is None:
            break
        command = [*started, *command[1:]]
    return [str(script)]


def _started(text: str, environment: Mapping[str, str]) -> list[str] | None:
    """The command to which this one script passes its arguments; None if it is not clear."""
    found: list[list[str]] = []
    for line in _EXEC.findall(_COMMENTS.sub("", text)):
        words = _words(line)
        if not words or ("/" in words[0] and not words[0].startswith("/")):
            return None
        place = _found(words[0], environment)
        if any(_found(word, environment) for word in words[1:]):
            return None  # it starts a starter
        if place is not None and [str(place), *words[1:]] not in found:
            found.append([str(place), *words[1:]])
    return found[0] if len(found) == 1 else None


def _words(line: str) -> list[str]:
    """The words before the arguments of the script; empty if they are not all literal."""
    passes = _PASSES.fullmatch(line)
    with suppress(ValueError):  # a quote without its end
        return shlex.split(passes[1]) if passes else []
    return []


def _next_of_name(script: Path, environment: Mapping[str, str]) -> Path | None:
    """The native program of that name that is behind the script in PATH, as behind a shim."""
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    places = [Path(folder or ".", script.name).absolute() for folder in folders]
    if script.absolute() not in places:
        return None
    return next(filter(_is_native, places[places.index(script.absolute()) :]), None)


def _found(name: str, environment: Mapping[str, str]) -> Path | None:
    """The executable file of that name, by its path or in PATH."""
    folders = [""] if "/" in name else environment.get("PATH", os.defpath).split(os.pathsep)
    places = (Path(folder, name).absolute() for folder in folders)
    return next((it for it in places if it.is_file() and os.access(it, os.X_OK)), None)


def _is_shell_script(text: str) -> bool:
    interpreter = interpreter_of(text[:256].encode("utf-8", "surrogateescape"))
    return text.startswith("#!") and bool(_SHELL.fullmatch(Path(interpreter.split()[0]).name))


def _is_native(place: Path) -> bool:
    return os.access(place, os.X_OK) and _text(place).startswith("\x7fELF")


def _text(file: Path) -> str:
    """The beginning of a file; empty if it cannot be read."""
    with suppress(OSError), file.open("rb") as stream:
        return stream.read(_BYTES).decode("utf-8", "surrogateescape")
    return ""
