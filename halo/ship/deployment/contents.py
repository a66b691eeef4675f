"""The text files of a deployment: variables, wrapper, instructions, snippets for services."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from halo import __version__
from halo.ship.deployment.libraries import SharedLibrary

ENV, RUN, README = "env", "run", "README"
_WRAPPER = textwrap.TextWrapper(
    80, subsequent_indent=" " * 10, break_long_words=False, break_on_hyphens=False
)


@dataclass(frozen=True)
class Deployment:
    """What the texts are about; `place` is the folder on the machine where it is used.

    `plan` is the name of its file, `build_id` of the program that it is for; all but `place` and
    `libraries` may be empty. `libraries` are in the order of LD_PRELOAD; `settings` are variables
    of the allocator.
    """

    program: str
    place: Path
    plan: str
    build_id: str
    libraries: Sequence[SharedLibrary]
    what: str
    why: str
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def preload(self) -> str:
        return ":".join(str(self.place / library.name) for library in self.libraries)


def variables(found: Deployment) -> dict[str, str]:
    plan = {"HALO_PLAN": str(found.place / found.plan)} if found.plan else {}
    preload = {"LD_PRELOAD": found.preload} if found.libraries else {}
    return {**preload, **plan, **found.settings}


def env_text(found: Deployment) -> str:
    """Lines that systemd (EnvironmentFile), Docker (--env-file) and shells all read alike."""
    lines = [f"# {found.what}. `{RUN}` sets the same for one program."]
    lines += [f"{name}={value}" for name, value in variables(found).items()]
    return "\n".join(lines) + "\n"


def run_text(found: Deployment) -> str:
    """A wrapper that finds the files beside itself. In doubt it runs the program without them."""
    preload = ":".join(f"$here/{library.name}" for library in found.libraries)
    plan = f'    export HALO_PLAN="$here/{found.plan}"\n' if found.plan else ""
    exported = (
        f'    export LD_PRELOAD="{preload}${{LD_PRELOAD:+:$LD_PRELOAD}}"\n' if preload else ""
    )
    settings = "".join(
        f"    export {name}={shlex.quote(value)}\n" for name, value in found.settings.items()
    )
    return f"""#!/bin/sh
# {found.what}, for: {RUN} PROG ARGS
[ $# -gt 0 ] || {{ echo "usage: $0 PROG ARGS" >&2; exit 2; }}
here=$(unset LD_PRELOAD; dirname "$(readlink -f "$0")")
case $here in
  *[:[:space:]]*) echo "$0: LD_PRELOAD cannot hold a colon or a space: $here" >&2 ;;
  *)
{exported}{plan}{settings}    ;;
esac
exec "$@"
"""


def readme_text(found: Deployment) -> str:
    """How to use, check and switch off what is in the folder, and what it needs."""
    program, place = found.program or "PROG", found.place
    lines = [f"{found.what} (halo {__version__})."]
    if found.why:
        lines.append(f"Measured: {found.why}")
    lines += [
        f"Use:      copy this folder to {place}, then start: {place}/{RUN} {program} ARGS",
        f"Service:  EnvironmentFile=-{place}/{ENV} in the unit; or docker run --env-file {ENV}",
        f"Check:    {_check(found, program)}",
    ]
    if found.build_id:
        lines.append(
            f"Build:    the plan is for build-id {found.build_id}"
            f" (see: file -L /path/of/{program}); any other build runs without it."
        )
    lines += [
        f"Needs:    {requirements(found.libraries)}.",
        f"Off:      start {program} without {RUN}; for a service, rename {ENV} and restart it.",
        "Not with: set-user-id programs, file capabilities, static programs, other C libraries.",
    ]
    if found.libraries:
        lines.append(f"Licences: {_licences(found.libraries)}.")
    return "\n".join(map(_WRAPPER.fill, lines)) + "\n"


def _check(found: Deployment, program: str) -> str:
    if found.plan:
        return f"HALO_STATS=1 {found.place}/{RUN} {program} ARGS says `active` at the end."
    if found.libraries:
        return f"grep {found.libraries[0].name} /proc/PID/maps, for the process id of {program}"
    return f"grep -a {min(found.settings)} /proc/PID/environ, for the process id of {program}"


def requirements(libraries: Sequence[SharedLibrary]) -> str:
    """What the machine has to have, by the symbol versions of the libraries."""
    glibc = max((library.glibc for library in libraries), default=())
    release = f" {'.'.join(map(str, glibc))} or later" if glibc else ""
    others = [f"{it.name} needs {', '.join(it.others)}" for it in libraries if it.others]
    return "; ".join([f"x86-64 Linux with glibc{release}", *others])


def licence_name(library: SharedLibrary) -> str:
    return f"LICENCE.{library.name.partition('.')[0]}"


def _licences(libraries: Sequence[SharedLibrary]) -> str:
    return ", ".join(
        licence_name(it) if it.licence else f"that of {it.name} is not here" for it in libraries
    )


def drop_in_text(found: Deployment, unit: str) -> str:
    """A drop-in; with the `-`, the service also starts if the folder is missing."""
    return f"""# Install: cp -r {unit}.d /etc/systemd/system/
#          systemctl daemon-reload && systemctl restart {unit}
[Service]
EnvironmentFile=-{found.place / ENV}
"""


def dockerfile_text(found: Deployment, folder: str) -> str:
    lines = [f"ENV {name}={value}" for name, value in variables(found).items()]
    return "\n".join(
        [
            f"# Lines for the end of a Dockerfile; the build context has this folder as {folder}/.",
            f"COPY {folder}/ {found.place}/",
            *lines,
            "",
        ]
    )
