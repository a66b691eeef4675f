"""Detects scripts and launchers: programs that start another one without the runtime."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from halo.base.errors import Unsuitable
from halo.binary.process.loader_command import loader_sentence
from halo.binary.process.scripts import Found, call_of_script, interpreter_of
from halo.binary.process.target import Target, examine, is_app_image
from halo.measure.runs.wrappers import refuse_known_launcher
from halo.ship.doctor.finding import Finding, refusal, refusal_of

_SANDBOXED = re.compile(rb"^[^#\n]*\b(flatpak|snap)\s+run\b", re.MULTILINE)
_SCRIPT_BYTES = 64 * 1024


def examine_launcher(
    target: Target, arguments: Sequence[str], environment: Mapping[str, str]
) -> Finding | None:
    """The refusal for a script, for a snap, flatpak or AppImage, or for a wrapper such as `env`.

    None for all other programs.
    """
    with target.path.open("rb") as stream:
        start = stream.read(_SCRIPT_BYTES)
    sandbox = _SANDBOXED.search(start) if start.startswith(b"#!") else None
    if target.path.resolve().name == "snap" and target.path.name != "snap":
        return _in_a_sandbox(target, "snap")
    if sandbox is not None:
        return _in_a_sandbox(target, sandbox[1].decode())
    if start.startswith(b"#!"):
        return _script(target, start, arguments, environment)
    if is_app_image(start):
        return refusal(
            "launcher",
            f"{target.name} is an AppImage, which unpacks another program and starts that",
            f"run `{target.name} --appimage-extract` and give the program inside",
        )
    try:
        if start.startswith(b"\x7fELF") and examine(target.path).is_loader:
            return refusal_of("launcher", Unsuitable(loader_sentence(target.name, arguments)))
        refuse_known_launcher(target, arguments, environment)
    except Unsuitable as error:
        return refusal_of("launcher", error)
    return None


def _in_a_sandbox(target: Target, kind: str) -> Finding:
    return refusal(
        "launcher",
        f"{target.name} starts a program in {kind}'s sandbox, in which neither halo's library nor"
        " the plan is visible",
        "install the program outside of it",
    )


def _script(
    target: Target, start: bytes, arguments: Sequence[str], environment: Mapping[str, str]
) -> Finding:
    call = call_of_script(target.path, environment)
    command = shlex.join([*call.command, *arguments])
    if call.found is Found.STARTED:
        return refusal(
            "script",
            f"{target.name} is a script that starts another program, {call.command[0]}",
            f"give that one (-- {command})",
        )
    if call.found is Found.NEXT_OF_NAME:
        return refusal(
            "script",
            f"{target.name} is a script; the next program of that name in PATH is"
            f" {call.command[0]}",
            f"give the program that it starts, if it is that one: (-- {command})",
        )
    program = interpreter_of(start).partition(" ")[0]
    starts = ", or the program that it starts" if program.endswith("sh") else ""
    return refusal(
        "script",
        f"{target.name} is a script, which {program} executes",
        f"give its interpreter as the program (-- {command}){starts}",
    )
