"""Programs that, by design, only execute another one: known by name, before anything is run.

process_watch.py recognises any other wrapper, but needs a run for it. Shells are not here: they do
work of their own.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from halo.errors import Unsuitable
from halo.target import Target

# They set something up that is inherited, and so may stand before halo itself.
SETTERS = frozenset(
    {"chrt", "env", "ionice", "linux64", "nice", "nohup", "numactl", "prlimit", "setarch"}
    | {"setpriv", "setsid", "stdbuf", "systemd-inhibit", "taskset", "unshare"}
)
OTHERS = frozenset(
    {"catchsegv", "eatmydata", "gdb", "ltrace", "perf", "strace", "time", "timeout", "valgrind"}
    | {"xargs"}
)
# They start programs that their arguments do not name.
STARTERS = re.compile(r"g?make|ninja|ccache|distcc|(.+-)?(cc|c\+\+|gcc|g\+\+)(-[0-9.]+)?")


# A program of the user's own may bear any name.
SYSTEM_FOLDERS = ("/bin/", "/usr/", "/opt/")


def refuse_known_wrapper(
    target: Target, arguments: Sequence[str], environment: Mapping[str, str]
) -> None:
    """Unsuitable if the program is a well-known wrapper and its arguments name what it executes."""
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
    """Unsuitable if the program is one that leaves the work to programs which it starts."""
    if STARTERS.fullmatch(Path(target.name).name) and _is_of_the_system(target):
        raise Unsuitable(
            f"{target.name} leaves the work to programs that it starts; give the one whose time"
            " matters, with the arguments that it gets."
        )


def _is_of_the_system(target: Target) -> bool:
    return str(target.path.resolve()).startswith(SYSTEM_FOLDERS)


def _place_of_program(arguments: Sequence[str], search: str) -> int | None:
    """The first argument that is an executable file, by its path or in PATH."""
    for place, word in enumerate(arguments):
        if word and not word.startswith("-") and shutil.which(word, path=search):
            return place
    return None
