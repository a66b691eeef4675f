"""Whether a plan is for this build of its program, also behind links that lead elsewhere now."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from halo.elf import FrameRule, RuleKind, build_id_of
from halo.plan import Group, Grouping, build_plan
from halo.plan.build_match import staleness
from halo.profile import Module, Profile
from support.samples.plan import Sample, any_alignment


def rule(module: Module, offset: int) -> FrameRule:
    return FrameRule(RuleKind.CONSTANT, 48, 16)


def profile_of(program: Path, link: Path) -> Profile:
    """Recorded by a link when that led to the program."""
    sample = Sample((Module(str(program), build_id_of(program)),))
    sample.add([16, 48], accesses=9)
    return replace(sample.profile(), program=str(link))


def test_a_link_that_leads_to_another_build_makes_a_plan_stale(tmp_path: Path) -> None:
    link = tmp_path / "current"
    for name, program in (("r1", "true"), ("r2", "false")):
        (tmp_path / name).mkdir()
        shutil.copy(f"/usr/bin/{program}", tmp_path / name / "app")
    link.symlink_to("r1")
    recorded = profile_of(tmp_path / "r1" / "app", link / "app")
    grouping = Grouping("test", (Group((0,), "reason", 0.25, 0),))
    plan = build_plan(recorded, grouping, {}, rule, prove=any_alignment)
    assert plan.executable is not None
    assert staleness(plan, link / "app") == ""
    link.unlink()
    link.symlink_to("r2")
    assert staleness(plan, link / "app") == f"another build of {link / 'app'}"
    assert staleness(plan, tmp_path / "r1" / "app") == ""
