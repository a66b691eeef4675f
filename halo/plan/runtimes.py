"""What is preloaded so that a program runs under a plan."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from halo.base.errors import BadInput, BadPlan
from halo.binary.process.allocators import PLAN_VARIABLE, Allocator, preload
from halo.plan.files import read_plan

CORE, EXTRA = "libhalo.so", "libhalo-extra.so"


def runtimes(runtime: Path) -> list[Path]:
    """The libraries of which one serves a plan."""
    return [runtime.with_name(name) for name in (CORE, EXTRA)]


def runtime_of(runtime: Path, plan: Path) -> Path:
    """The library that serves that plan: `runtime`, or the one beside it that can do more.

    A plan that cannot be read is left to `runtime`, which refuses it in one sentence.
    """
    if runtime.name != CORE:
        return runtime
    try:
        needs_more = read_plan(plan).needs_extra
    except (BadInput, BadPlan):
        return runtime
    return runtime.with_name(EXTRA) if needs_more else runtime


def without_runtimes(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without our libraries in LD_PRELOAD, as two of them serve side by side."""
    words = re.split("[: ]", environment.get("LD_PRELOAD", ""))
    users = [word for word in words if word and Path(word).name not in (CORE, EXTRA)]
    return {**environment, "LD_PRELOAD": ":".join(users)}


def under_plan(
    environment: Mapping[str, str],
    runtime: Path,
    plan: Path,
    allocator: Allocator,
    beside: Path | None = None,
) -> dict[str, str]:
    """The environment in which a program runs under a plan: LD_PRELOAD, HALO_PLAN, a setting.

    `runtime` is `libhalo.so`, or its checking build; `beside` is another library that is preloaded.
    """
    libraries = [runtime_of(runtime, plan), beside, allocator.library]
    result = preload(without_runtimes(environment), libraries)
    result |= allocator.variables
    result[PLAN_VARIABLE] = os.fspath(plan.absolute())
    return result
