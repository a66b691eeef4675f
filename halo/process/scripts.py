"""Finds the program behind a script, from its text: its interpreter, or what it starts.

Executes nothing. Version managers (pyenv, rbenv, asdf, ...) put scripts, shims, before the programs
of the chosen version.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_BYTES = 64 * 1024  # of a script that are read
_DEPTH = 4  # scripts that start scripts
_SHELL = re.compile(r"(ba|da|k|z|a|c|tc)?sh")
# By the variable of the folder: the file that chooses a version, in the folder of the user.
_CHOOSERS = {
    **{"PYENV": ".python-version", "RBENV": ".ruby-version", "NODENV": ".node-version"},
    **{"PLENV": ".perl-version", "GOENV": ".go-version", "LUAENV": ".lua-version"},
}
_SHIM = re.compile(rf"^export ({'|'.join(_CHOOSERS)})_ROOT=[\"']?([^\"'\n]+)", re.MULTILINE)
_ASDF = re.compile(r"^# asdf-plugin: (\S+) (\S+)", re.MULTILINE)
_COMMENTS = re.compile(r"^\s*#.*$", re.MULTILINE)
_EXEC = re.compile(r"\bexec\s+(?:-a\s+\S+\s+)?([\"']?)([^\s\"'$`;&|()]+)\1(?=[\s;&|)]|$)")
_STARTERS = {"asdf", "bash", "command", "dash", "env", "nice", "nohup", "sh"}


@dataclass(frozen=True)
class ScriptCall:
    """How to call what a script leads to: the command, and whether it is the program it starts."""

    command: Sequence[str]
    starts: bool = False


def interpreter_of(start: bytes) -> str:
    """The command of a script's first line, without `env`; `start` is its beginning."""
    words = start[2:].partition(b"\n")[0].decode("utf-8", "replace").split()
    if words and words[0].endswith("/env"):
        words = words[2:] if words[1:2] == ["-S"] else words[1:]
    return " ".join(words) or "INTERPRETER"


def call_of_script(script: Path, environment: Mapping[str, str]) -> ScriptCall:
    """The program that a script starts, if that can be found; else the script's interpreter."""
    last = _last_started(script, environment)
    if last != script and _is_native(last):
        return ScriptCall([str(last)], starts=True)
    words = interpreter_of(_text(last).encode("utf-8", "surrogateescape")).split()
    place = _found(words[0], environment)
    behind = _last_started(place, environment) if place is not None else None
    interpreter = str(behind) if behind not in (None, place) else words[0]
    return ScriptCall([interpreter, *words[1:], str(last)], starts=last != script)


def _last_started(script: Path, environment: Mapping[str, str]) -> Path:
    """What a shell script starts, through all shell scripts; itself if that is not clear."""
    at = script
    for _ in range(_DEPTH):
        text = _text(at)
        following = _started(at, text, environment) if _is_shell_script(text) else None
        if following is None:
            return script if _is_shell_script(text) else at
        at = following
    return script


def _started(script: Path, text: str, environment: Mapping[str, str]) -> Path | None:
    """What this one script starts."""
    shim = _SHIM.search(text)
    if shim is not None:
        return _of_manager(script, shim[1], Path(shim[2]), environment)
    plugins = _ASDF.findall(text)
    if plugins:
        return _of_asdf(script, plugins, environment)
    found = {name for _, name in _EXEC.findall(_COMMENTS.sub("", text))}
    names = {name for name in found if Path(name).name not in _STARTERS}
    places = {place for name in names if (place := _found(name, environment)) is not None}
    others = {place for place in places if not _same(place, script)}
    if others:
        return others.pop() if len(others) == 1 else None
    return _next_of_name(script, environment)


def _of_manager(
    script: Path, manager: str, root: Path, environment: Mapping[str, str]
) -> Path | None:
    versions = environment.get(f"{manager}_VERSION", "").split(":")
    if versions == [""]:
        files = [*(folder / _CHOOSERS[manager] for folder in _folders()), root / "version"]
        versions = next(filter(None, map(_words, files)), ["system"])
    for version in versions:
        if version == "system":
            return _next_of_name(script, environment)
        # A version may be given by its first numbers; the last release of it is the newest.
        releases = sorted((root / "versions").glob(f"{version}.*"), key=_numbers)
        for folder in [root / "versions" / version, *reversed(releases)]:
            if os.access(folder / "bin" / script.name, os.X_OK):
                return folder / "bin" / script.name
    return None


def _of_asdf(
    script: Path, plugins: Sequence[tuple[str, str]], environment: Mapping[str, str]
) -> Path | None:
    home = environment.get("HOME", "/")
    installs = Path(environment.get("ASDF_DATA_DIR") or f"{home}/.asdf") / "installs"
    chosen: dict[str, str] = {}
    for folder in (*_folders(), Path(home)):
        words = _words(folder / ".tool-versions", whole_lines=True)
        for plugin, version in (line.split()[:2] for line in words if len(line.split()) > 1):
            chosen.setdefault(plugin, version)
    for plugin, version in plugins:
        wanted = environment.get(f"ASDF_{plugin.upper()}_VERSION") or chosen.get(plugin)
        place = installs / plugin / version / "bin" / script.name
        if wanted in (None, version) and os.access(place, os.X_OK):
            return place
    return _next_of_name(script, environment)


def _next_of_name(script: Path, environment: Mapping[str, str]) -> Path | None:
    """The native program of that name that is behind the script in PATH."""
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    places = [Path(folder or ".", script.name).absolute() for folder in folders]
    if script.absolute() not in places:
        return None
    behind = places[places.index(script.absolute()) :]
    return next((it for it in behind if _is_native(it) and not _same(it, script)), None)


def _found(name: str, environment: Mapping[str, str]) -> Path | None:
    """The executable file of that name, by its path or in PATH."""
    folders = [""] if "/" in name else environment.get("PATH", os.defpath).split(os.pathsep)
    places = (Path(folder, name).absolute() for folder in folders)
    return next((it for it in places if it.is_file() and os.access(it, os.X_OK)), None)


def _folders() -> Iterator[Path]:
    here = Path.cwd()
    yield from (here, *here.parents)


def _words(file: Path, whole_lines: bool = False) -> list[str]:
    """The words, or lines, of a file without its comments; none if it cannot be read."""
    lines = [line.partition("#")[0].strip() for line in _text(file).splitlines()]
    return [line for line in lines if line] if whole_lines else " ".join(lines).split()


def _numbers(folder: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", folder.name)]


def _is_shell_script(text: str) -> bool:
    interpreter = interpreter_of(text[:256].encode("utf-8", "surrogateescape"))
    return text.startswith("#!") and bool(_SHELL.fullmatch(Path(interpreter.split()[0]).name))


def _is_native(place: Path) -> bool:
    return os.access(place, os.X_OK) and _text(place).startswith("\x7fELF")


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def _text(file: Path) -> str:
    """The beginning of a file; empty if it cannot be read."""
    with suppress(OSError), file.open("rb") as stream:
        return stream.read(_BYTES).decode("utf-8", "surrogateescape")
    return ""
