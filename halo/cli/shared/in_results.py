"""Arguments that name a file, or a folder which has it: of results, or of a deployment."""

from __future__ import annotations

from pathlib import Path

from halo.base.errors import BadInput, BadProfile

PROFILE = "train.profile"  # in a results folder


def plan_argument(text: str) -> Path:
    """A plan; of a results folder the kept one, of another folder the only one."""
    path = Path(text)
    return _kept_plan(path) if path.is_dir() else path


def profile_argument(text: str) -> Path:
    """A profile; of a results folder that of the recorded input."""
    path = Path(text)
    if not path.is_dir():
        return path
    if (path / PROFILE).is_file():
        return path / PROFILE
    raise BadProfile(
        f"{path} is a folder without a {PROFILE}; give a profile, or a results folder."
    )


def _kept_plan(folder: Path) -> Path:
    from halo.report.results import read_measurement
    from halo.report.results.reader import NAME

    plans = sorted(folder.glob("*.plan"))
    if not (folder / NAME).exists():
        if len(plans) == 1:
            return plans[0]
        raise BadInput(
            f"{folder} is a folder with {len(plans) or 'no'} plans and no {NAME}; give the plan."
        )
    kept = read_measurement(folder).kept
    plan = None if kept is None or not kept.plan else folder / kept.plan
    if plan is not None and plan.is_file():
        return plan
    names = f" Give one that it tried, such as {plans[0]}." if plans else ""
    raise BadInput(f"No plan was kept in the results folder {folder}.{names}")
