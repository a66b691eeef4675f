"""Checks a program's surroundings: the loader's output, the environment, the limits."""

from __future__ import annotations

import re
import resource
from collections.abc import Iterator, Sequence
from pathlib import Path

from halo.base.errors import CannotRun
from halo.base.settings import Settings
from halo.plan.runtimes import CORE, EXTRA
from halo.ship.doctor.finding import Finding, fine, listed, note, refusal
from halo.ship.doctor.loader import Loading, same_file
from halo.ship.doctor.module import LinkedModule

_MEBIBYTE = 1 << 20
_RESERVE = 1664
"""glibc's default reserve of static thread-local memory for libraries opened later, bytes."""


def preloaded(settings: Settings) -> tuple[str, ...]:
    """The libraries in the user's LD_PRELOAD."""
    return tuple(filter(None, re.split("[: ]", settings.environment.get("LD_PRELOAD", ""))))


def find_unloadable(
    name: str, runtime: Path | None, plain: Loading, together: Loading
) -> Finding | None:
    """The refusal if the loader cannot start the program, alone or with the runtime."""
    if plain.missing or plain.failure:
        missing = f"does not find {listed([*plain.missing])}"
        return refusal(
            "libraries",
            f"{name} cannot be started: the loader"
            f" {missing if plain.missing else 'reports: ' + plain.failure}",
            "install what is missing, or set LD_LIBRARY_PATH",
            CannotRun,
        )
    if runtime is None or any(same_file(path, runtime) for path in together.libraries):
        return None
    return refusal(
        "preloading",
        f"the loader of {name} does not load {runtime.name}"
        f" ({together.failure or 'it goes on without it'})",
        "build halo with the C library that the program uses, at a path without colons and spaces",
    )


def examine_surroundings(
    settings: Settings, loader: Loading, modules: Sequence[LinkedModule]
) -> Iterator[Finding]:
    """Notes on LD_PRELOAD, audit libraries and the limit of the address space."""
    named = [name for word in preloaded(settings) if (name := Path(word).name) in (CORE, EXTRA)]
    if named:
        yield note(
            "LD_PRELOAD",
            f"it names {named[0]} already, and halo's commands add it themselves",
            "unset LD_PRELOAD for halo's commands",
        )
    for word in loader.ignored:
        yield note(
            "LD_PRELOAD",
            f"the loader cannot load {word} and goes on without it",
            "give its whole path, or remove it",
        )
    audited = [module.name for module in modules if module.tags & {"DT_AUDIT", "DT_DEPAUDIT"}]
    if settings.environment.get("LD_AUDIT") or audited:
        yield note(
            "auditing",
            f"{audited[0] if audited else 'LD_AUDIT'} asks for an audit library, which lives in a"
            " namespace with a C library of its own, where halo is not",
            "do without it if it hands out memory that the program frees",
        )
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        yield note(
            "address space",
            f"it is limited to {limit // _MEBIBYTE} MiB: halo reserves less, and forwards"
            " allocations without room",
            "lift the limit with: ulimit -v unlimited",
        )


def describe_thread_locals(runtime: LinkedModule, modules: Sequence[LinkedModule]) -> Finding:
    """Static thread-local memory, which the loader reserves for modules loaded at the start."""
    theirs = sum(module.thread_local_bytes for module in modules)
    return fine(
        "static TLS",
        f"{theirs} bytes for the program and its libraries, {runtime.thread_local_bytes} for halo;"
        f" the loader's reserve for libraries opened later ({_RESERVE} by default) is not touched",
    )
