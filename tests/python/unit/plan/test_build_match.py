"""Whether a plan is for this build of its program, also behind links that lead elsewhere now."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from halo.binary.elf import FrameRule, RuleKind, build_id_of
from halo.plan import Group, Grouping, Plan, build_plan, write_plan
from halo.plan.build_match import StalePlan, check_plan, staleness
from halo.plan.shared_functions import has_its_functions
from halo.record.profile import Module, Profile
from support.command import compile_c
from support.samples.plan import Sample, any_alignment


def rule(module: Module, offset: int) -> FrameRule:
    return FrameRule(RuleKind.CONSTANT, 48, 16)


def profile_of(program: Path, link: Path) -> Profile:
    """Recorded by a link when that led to the program."""
    sample = Sample((Module(str(program), build_id_of(program)),))
    sample.add([16, 48], accesses=9)
    return replace(sample.profile(), program=str(link))


def plan_of(profile: Profile) -> Plan:
    grouping = Grouping("test", (Group((0,), "reason", 0.25, 0),))
    return build_plan(profile, grouping, {}, rule, prove=any_alignment)


def test_a_link_that_leads_to_another_build_makes_a_plan_stale(tmp_path: Path) -> None:
    link = tmp_path / "current"
    for name, program in (("r1", "true"), ("r2", "false")):
        (tmp_path / name).mkdir()
        shutil.copy(f"/usr/bin/{program}", tmp_path / name / "app")
    link.symlink_to("r1")
    recorded = profile_of(tmp_path / "r1" / "app", link / "app")
    plan = plan_of(recorded)
    assert plan.executable is not None
    assert staleness(plan, link / "app") is None
    link.unlink()
    link.symlink_to("r2")
    difference = staleness(plan, link / "app")
    assert difference is not None and not difference.other_program
    assert difference.words == f"another build of {link / 'app'}"
    assert staleness(plan, tmp_path / "r1" / "app") is None


@pytest.mark.parametrize("name", ["other", "application", "apt", "app-cli", "app64", "app_new"])
def test_a_plan_for_another_program_is_not_to_be_updated(tmp_path: Path, name: str) -> None:
    """`halo update` refuses what has none of the recorded code."""
    other, path = tmp_path / "my tools" / name, tmp_path / "app.plan"
    other.parent.mkdir()
    shutil.copy("/usr/bin/true", tmp_path / "app")
    shutil.copy("/usr/bin/false", other)
    write_plan(plan_of(profile_of(tmp_path / "app", tmp_path / "app")), path)
    with pytest.raises(StalePlan) as found:
        check_plan(path, other, ["a b"], halo="my halo")
    line = f"{shlex.quote(str(other))} 'a b'"
    for said in (str(found.value), found.value.without_effect):
        assert f"another program, {tmp_path}/app, than {other}" in said
        assert said.endswith(f"with: 'my halo' run -- {line} -- {line}")
        assert "update" not in said


def test_a_renamed_build_has_the_functions_of_the_plan(tmp_path: Path) -> None:
    source = "void *{0}(void) {{ return 0; }} int main(void) {{ return !{0}(); }}"
    for name, function in (("recorded", "grow"), ("fixed", "grow"), ("other", "shrink")):
        compile_c(source.format(function), tmp_path / name, f"-DBUILD_{name}=1")
    found = replace(plan_of(profile_of(tmp_path / "recorded", tmp_path / "recorded")))
    assert found.review is not None
    group = found.review.groups[0]
    members = tuple(
        replace(member, stack=("grow at a.c:7", "grow(int) (inlined into main)", "main"))
        for member in group.contexts
    )
    review = replace(found.review, groups=(replace(group, contexts=members),))
    plan = replace(found, review=review)
    assert has_its_functions(plan, tmp_path / "fixed")
    assert not has_its_functions(plan, tmp_path / "other")
    assert not has_its_functions(plan, Path("/usr/bin/env"))
    assert not has_its_functions(plan, tmp_path / "missing")


@pytest.mark.parametrize("name", ["app", "app-2.1", "app-v2", "app_3", "app3.11", "app-1.7.2"])
def test_a_build_of_another_name_is_to_be_updated(tmp_path: Path, name: str) -> None:
    shutil.copy("/usr/bin/true", tmp_path / "app-1.7")
    shutil.copy("/usr/bin/false", tmp_path / name)
    plan = plan_of(profile_of(tmp_path / "app-1.7", tmp_path / "app-1.7"))
    difference = staleness(plan, tmp_path / name)
    assert difference is not None and not difference.other_program
