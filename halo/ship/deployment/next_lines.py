"""The lines for the end of a measurement: how to deploy what it found."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from halo.base.errors import HaloError
from halo.binary.process.allocators import alone
from halo.plan.runtimes import under_plan
from halo.report.results.reader import read_measurement
from halo.ship.deployment.choice import DeploymentChoice, choice_of_results
from halo.ship.deployment.names import safe_name


def next_lines(
    halo: str, folder: Path, runtime: Path, command: Sequence[str]
) -> tuple[str, str] | None:
    """The command that deploys these results, and the program under what it deploys.

    The second is `LD_PRELOAD=... HALO_PLAN=... PROG ARGS`, to paste into a shell. None if there is
    nothing to deploy.
    """
    try:
        choice = choice_of_results(read_measurement(folder))
    except HaloError:
        return None
    deploy = [halo, "deploy", str(folder), "-o", default_output(choice).name]
    return shlex.join(deploy), f"{_variables(choice, runtime)} {shlex.join(command)}"


def _variables(choice: DeploymentChoice, runtime: Path) -> str:
    if choice.plan is None:
        found = alone({}, choice.allocator)
    else:
        found = under_plan({}, runtime, choice.plan, choice.allocator)
    return " ".join(f"{name}={shlex.quote(value)}" for name, value in found.items())


def default_output(choice: DeploymentChoice) -> Path:
    """The folder that `halo deploy` writes if the user names none."""
    return Path(f"{safe_name(choice.program or choice.allocator.name)}-deploy")
