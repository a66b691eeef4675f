"""The reviewable form stays small and fast for any program; its first version is read, too."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from halo.plan import Group, Grouping, Identification, Plan, build_plan, read_plan, write_plan
from halo.plan.review import groups as reviewing
from halo.plan.review.form import cut, review_json
from halo.plan.review.ids import context_ids
from halo.record.profile import Profile
from support.samples.plan import Sample, any_alignment, any_distance

MEGABYTE = 1_000_000
SCOPE = "very::deeply::nested::scope_of_a_template<std::map<std::string, std::vector<int>>>::"


def long_names(profile: Profile, frames: Iterable[int]) -> dict[int, str]:
    return {at: f"{SCOPE * 20}function_{at}() at /src/file.cc:{at}" for at in frames}


def deep_stacks(contexts: int, depth: int, own: int = 16) -> Sample:
    """Contexts whose stacks share no frame but those beyond the `own` inner ones."""
    sample = Sample()
    shared = [16 * (contexts * own + level + 1) for level in range(depth - own)]
    for at in range(contexts):
        inner = [16 * (own * at + level + 1) for level in range(own)]
        sample.add([*inner, *shared], accesses=at % 977)
    return sample


def reviewed(profile: Profile, grouping: Grouping, frames: str = "16") -> Plan:
    return build_plan(
        profile,
        grouping,
        {"stack_frames": frames},
        any_distance,
        prove=any_alignment,
        names=long_names,
    )


@pytest.fixture(scope="module")
def large() -> Profile:
    """20,000 contexts of 60 frames."""
    return deep_stacks(20_000, 60).profile()


@pytest.mark.parametrize(("groups", "frames"), [(1, "60"), (4000, "16"), (4000, "60")])
def test_deep_stacks_with_long_names_make_a_small_form_fast(
    tmp_path: Path, large: Profile, groups: int, frames: str
) -> None:
    profile, count = large, len(large.contexts)
    members = tuple(Group(tuple(range(at, count, groups)), f"reason {at}") for at in range(groups))
    plan = reviewed(profile, Grouping("t", members), frames)
    path = tmp_path / "a.plan"
    started = time.process_time()
    write_plan(plan, path)
    assert time.process_time() - started < 5
    assert path.with_name("a.plan.json").stat().st_size < 10 * MEGABYTE
    found = read_plan(path).review
    assert found is not None
    assert [group.size for group in found.groups] == [len(group.contexts) for group in members]
    hottest = found.groups[0].contexts[0]
    assert hottest.accesses == max(profile.contexts[at].accesses for at in members[0].contexts)
    assert hottest.stack[0].endswith(f":{next(profile.stack(hottest.context))}")


def test_ids_beyond_the_limit_are_only_counted(tmp_path: Path) -> None:
    """Two million contexts, of which every other one is in the group or cannot be told."""
    plan = reviewed(
        deep_stacks(40, 4, own=2).profile(), Grouping("t", (Group(tuple(range(40)), ""),))
    )
    assert plan.review is not None
    odd = context_ids(range(1, 2_000_000, 2))
    [group] = plan.review.groups
    review = replace(
        plan.review,
        groups=(replace(group, others=replace(group.others, ids=odd)),),
        identification=Identification(states=1, deepest=1, undecidable=odd, simplified=odd),
    )
    write_plan(replace(plan, review=review), tmp_path / "a.plan")
    assert (tmp_path / "a.plan.json").stat().st_size < 10 * MEGABYTE
    found = read_plan(tmp_path / "a.plan").review
    assert found is not None and not found.groups[0].others.ids.is_complete
    assert found.groups[0].size == 1_000_000 + len(group.contexts)
    assert len(found.identification.undecidable) == 1_000_000


def test_every_context_of_a_group_is_described_or_named(tmp_path: Path) -> None:
    members = tuple(at for at in range(300) if at % 7)
    grouping = Grouping("t", (Group(members, "hot"), Group((0, 7), "cold")))
    plan = reviewed(deep_stacks(300, 5, own=3).profile(), grouping)
    write_plan(plan, tmp_path / "a.plan")
    found = read_plan(tmp_path / "a.plan").review
    assert found is not None
    assert [sorted(group.members()) for group in found.groups] == [list(members), [0, 7]]
    assert len(found.groups[0].contexts) == reviewing.DETAILED
    accesses = [member.accesses for member in found.groups[0].contexts]
    assert accesses == sorted(accesses, reverse=True)


def test_the_same_frame_is_written_once() -> None:
    plan = reviewed(
        deep_stacks(200, 3, own=1).profile(), Grouping("t", (Group(tuple(range(200)), ""),))
    )
    names = review_json(plan, 0)["frames"]
    assert len(names) == len(set(names)) == reviewing.DETAILED + 2


FIRST = {
    "groups": [
        {
            "reason": "by hand",
            "coverage": 0.5,
            "weight": 3,
            "contexts": [
                {
                    "context": at,
                    "accesses": 9 - at,
                    "allocations": 1,
                    "sizes": [[24, 1]],
                    "stack": [f"f{at} at a.c:1", "main at a.c:9"],
                }
                for at in (4, 6)
            ],
        }
    ],
    "identification": {
        "states": 2,
        "deepest": 1,
        "mean_steps": 1.0,
        "undecidable": {"contexts": [4, 6], "accesses": 0.1, "allocations": 0.2},
        "simplified": {"contexts": [], "accesses": 0.0, "allocations": 0.0},
        "ends": {},
        "selectors": {
            "sites": 1,
            "immediate": 0,
            "conjunctions": 1,
            "unreachable": [6],
            "not_redirected": {},
        },
    },
}


def with_changes(path: Path, **changes: object) -> Path:
    """A plan whose form is changed; None removes a key."""
    plan = reviewed(deep_stacks(9, 4, own=2).profile(), Grouping("t", (Group((4, 6), "by hand"),)))
    write_plan(plan, path / "a.plan")
    review = path / "a.plan.json"
    document = {**json.loads(review.read_text()), **changes}
    review.write_text(json.dumps({k: v for k, v in document.items() if v is not None}))
    return path / "a.plan"


def test_the_first_version_of_the_form_is_read(tmp_path: Path) -> None:
    path = with_changes(tmp_path, **FIRST, form=None, frames=None)
    found = read_plan(path).review
    assert found is not None
    [group] = found.groups
    assert [member.stack for member in group.contexts] == [
        ("f4 at a.c:1", "main at a.c:9"),
        ("f6 at a.c:1", "main at a.c:9"),
    ]
    assert group.size == 2 and list(group.members()) == [4, 6]
    assert list(found.identification.undecidable) == [4, 6]
    assert found.identification.selectors is not None
    assert list(found.identification.selectors.unreachable) == [6]


@pytest.mark.parametrize(
    "changes", [{"form": 3}, {"frames": ["one"]}, {"frames": None}, {"form": "2"}]
)
def test_a_form_of_a_newer_version_or_without_its_names_is_ignored(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    assert read_plan(with_changes(tmp_path)).review is not None
    assert read_plan(with_changes(tmp_path, **changes)).review is None


@pytest.mark.parametrize("longest", [40, 44, 47, 48, 100, 4000])
@pytest.mark.parametrize("letter", ["a", "ä"])
def test_a_long_name_has_its_ends(letter: str, longest: int) -> None:
    name = f"<{letter * 5000}>"
    short = cut(name, longest)
    assert short[0] == "<" and short[-1] == ">"
    assert len(json.dumps(short)) - 2 <= longest
