"""Refuses well-known programs that only execute another one, by name and before any run.

process_watch.py detects other wrappers, but needs a run. Shells are not in the list, as they do
work of their own.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from halo.base.errors import Unsuitable
from halo.binary.process.target import Target

# Their effect is inherited, so they may be put before halo itself.
SETTERS = frozenset(
    {"chrt", "env", "ionice", "linux64", "nice", "nohup", "numactl", "prlimit", "setarch"}
    | {"setpriv", "setsid", "stdbuf", "systemd-inhibit", "taskset", "unshare"}
)
OTHERS = frozenset(
    {"catchsegv", "eatmydata", "gdb", "ltrace", "perf", "strace", "time", "timeout", "valgrind"}
    | {"xargs"}
)
# Programs that start others which their arguments do not name.
STARTERS = re.compile(r"g?make|ninja|ccache|distcc|(.+-)?(cc|c\+\+|gcc|g\+\+)(-[0-9.]+)?")


# A user's own program may have any name.
SYSTEM_FOLDERS = ("/bin/", "/usr/", "/opt/")


def refuse_known_wrapper(
    target: Target, arguments: Sequence[str], environment: Mapping[str, str]
) -> None:
    """Raises `Unsuitable` for a well-known wrapper whose arguments name the program it executes."""
    name = Path(target.name).name
    if name not in SETTERS | OTHERS or not _is_of_the_system(target):
        return
    place = _place_of_program(arguments, environment.get("PATH", os.defpath))
    if place is None:
        return
    inner = shlex.join(arguments[place:])
    sentence = (
        f"{target.name} only executes another program, {arguments[place]}; give that one:"
        f" -- {inner}"
    )
    if name in SETTERS:
        before = shlex.join([target.name, *arguments[:place]])
        sentence += f" (what {name} sets up is inherited: `{before}` may stand before `halo`)"
    raise Unsuitable(sentence)


def refuse_known_starter(target: Target) -> None:
    """Raises `Unsuitable` for a program whose work is done by programs that it starts."""
    if STARTERS.fullmatch(Path(target.name).name) and _is_of_the_system(target):
        raise Unsuitable(
            f"{target.name} leaves the work to programs that it starts; give the one to measure,"
            " with its arguments."
        )


def refuse_known_launcher(
    target: Target, arguments: Sequence[str], environment: Mapping[str, str]
) -> None:
    """Raises `Unsuitable` for a well-known wrapper or starter: it is not the program to record."""
    refuse_known_wrapper(target, arguments, environment)
    refuse_known_starter(target)


def _is_of_the_system(target: Target) -> bool:
    return str(target.path.resolve()).startswith(SYSTEM_FOLDERS)


def _place_of_program(arguments: Sequence[str], search: str) -> int | None:
    """The first argument that is an executable file, by its path or in PATH."""
    for place, word in enumerate(arguments):
        if word and not word.startswith("-") and shutil.which(word, path=search):
            return place
    return None
