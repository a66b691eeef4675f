"""Plan files are written in one step, read strictly, and tied to their reviewable form."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import BadInput, BadPlan
from halo.binary.elf import FrameRule, RuleKind
from halo.plan import (
    ConflictReview,
    Group,
    Grouping,
    Plan,
    PlanGroup,
    PlanModule,
    build_plan,
    drawing_plan,
    plan_summary,
    read_plan,
    write_plan,
)
from halo.plan.compact import decode, encode
from halo.plan.model import PageLayout
from halo.record.profile import Module
from support.samples.plan import CHECKED, MODULES, Sample, any_alignment, any_distance

HEADER, MODULE, GROUP, STATE = 64, 40, 16, 32


def sample_plan() -> Plan:
    def rule(module: Module, offset: int) -> FrameRule:
        if offset == 33:
            return FrameRule(RuleKind.FRAME_POINTER, 8, 8)
        return FrameRule(RuleKind.CONSTANT, 48, 16)

    sample = Sample()
    sample.add([16, (1, 32), 48], accesses=9)
    sample.add([16, (1, 32), 49], alignment=32)
    sample.add([17, (1, 33), 48])
    sample.add([17, (1, 33), 49])
    groups = tuple(Group((at,), f"reason {at}", 0.25, at) for at in range(3))
    groups = (*groups[:2], replace(groups[2], conflicts=ConflictReview(48, 1, 70, 60.5, 2.5)))
    return build_plan(
        sample.profile(),
        Grouping("test", groups),
        {"reuse": "chunks", "huge_min": "0"},
        rule,
        prove=any_alignment,
    )


def test_reads_what_it_wrote(tmp_path: Path) -> None:
    plan = sample_plan()
    write_plan(plan, tmp_path / "a.plan")
    found = read_plan(tmp_path / "a.plan")
    assert (found.modules, found.groups, found.states) == (plan.modules, plan.groups, plan.states)
    assert [each[:2] for each in found.checked] == [each[:2] for each in CHECKED]
    assert found.executable == plan.executable == 0
    assert plan.review is not None
    assert found.review is not None
    assert found.review.groups == plan.review.groups
    assert found.review.identification == plan.review.identification
    assert plan_summary(found) == plan_summary(plan)


def test_digests_are_in_the_version_that_has_them(tmp_path: Path) -> None:
    plan = sample_plan()
    modules = tuple(it._replace(layout=0xFFFFFFFF) for it in plan.modules)
    checked = tuple(it._replace(code=2**64 - 1) for it in plan.checked)
    content = bytearray(encode(replace(plan, modules=modules, checked=checked)))
    found = decode(bytes(content), "a.plan")
    assert [it.layout for it in found.modules] == [0xFFFFFFFF] * len(modules)
    assert [it.code for it in found.checked] == [2**64 - 1] * len(checked)
    assert content[8] == 7 and encode(plan)[8] < 7
    content[8] = 6
    with pytest.raises(BadPlan, match="unknown field"):
        decode(bytes(content), "a.plan")


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ((1, 1, 1, 0), "a.plan has rules for hints, which this halo does not serve; plan again"),
        ((0, 0, 1, 0), "a header field that is unknown"),
        ((0, 0, 0, 1), "a header field that is unknown"),
    ],
)
def test_rules_for_hints_are_refused(counts: tuple[int, ...], sentence: str) -> None:
    plan = sample_plan()
    content = encode(replace(plan, modules=tuple(it._replace(layout=1) for it in plan.modules)))
    body = struct.pack("<IIII", *counts) + content[HEADER + 16 :] + bytes(32 + 24 + 8)
    header = bytearray(content[:HEADER])
    struct.pack_into("<IQ", header, 12, zlib.crc32(body), HEADER + len(body))
    with pytest.raises(BadPlan, match=sentence):
        decode(bytes(header + body), "a.plan")


def test_the_compact_form_is_laid_out_as_documented() -> None:
    """Written out by hand from docs/plan-format.md, not with the writer's own structures."""
    content = encode(sample_plan())
    states = sample_plan().states
    assert content[:8] == b"HALOPLAN"
    assert struct.unpack_from("<I", content, 8) == (3,)
    assert struct.unpack_from("<I", content, 12) == (zlib.crc32(content[64:]),)
    assert struct.unpack_from("<Q", content, 16) == (len(content),)
    assert struct.unpack_from("<5I", content, 24) == (2, 3, len(states), 4096, 1)
    assert struct.unpack_from("<I", content, 44) == (1 + 0,)  # the program is module 0
    assert struct.unpack_from("<4I", content, 48) == (0, 0, 2, 1)
    assert content[64:104] == bytes.fromhex(MODULES[0].build_id).ljust(32, b"\0") + struct.pack(
        "<II", 20, 0
    )
    groups = HEADER + 2 * MODULE
    assert struct.unpack_from("<IIQ", content, groups) == (1, 1, 0)
    base = groups + 3 * GROUP
    root = struct.unpack_from("<IIQiBBHhHI", content, base)
    assert root == (0, 0, 0, 0, 0, 0, 0xFFFF, 0, 0, 0)
    rows = [
        struct.unpack_from("<IIQiBBHhHI", content, base + at * STATE) for at in range(len(states))
    ]
    assert (0, 0, 17, 48, 1, 1, 0xFFFF, 16, 0, 0) in rows  # restores rbp for the site below
    assert (0, 0, 16, 48, 1, 0, 0xFFFF, 0, 0, 0) in rows  # no state needs rbp here
    assert any(row[1:7] == (1, 33, 8, 2, 1, 0xFFFF) and row[7] == 8 for row in rows)
    assert any(row[2:4] == (49, 0) and row[6] == 1 and row[8] == 16 for row in rows)
    checked = base + len(states) * STATE
    assert content[checked : checked + 96] == (
        bytes.fromhex("aa" * 20).ljust(32, b"\0")
        + struct.pack("<IIQ", 20, 1, 0)
        + bytes.fromhex("cc" * 16).ljust(32, b"\0")
        + struct.pack("<IIQ", 16, 0, 0)
    )
    assert content[checked + 96 :] == struct.pack("<QBBHI", 0x1234, 0x28, 0x10, 0, 0)


def test_refuses_every_way_of_being_cut_short(tmp_path: Path) -> None:
    content = encode(sample_plan())
    path = tmp_path / "a.plan"
    boundaries = {HEADER, HEADER + MODULE, HEADER + 2 * MODULE, HEADER + 2 * MODULE + 3 * GROUP}
    for size in sorted(boundaries | set(range(0, len(content), 5)) | {len(content) - 1}):
        path.write_bytes(content[:size])
        with pytest.raises(BadPlan, match="is cut short" if size else "is empty"):
            read_plan(path)
    path.write_bytes(content + b"\0")
    with pytest.raises(BadPlan, match="is damaged"):
        read_plan(path)


def test_refuses_every_flipped_bit(tmp_path: Path) -> None:
    content = encode(sample_plan())
    path = tmp_path / "a.plan"
    for at in range(len(content)):
        if at in range(36, 48):
            continue
        flipped = bytearray(content)
        flipped[at] ^= 1 << at % 8
        path.write_bytes(flipped)
        with pytest.raises(BadPlan):
            read_plan(path)


def test_refuses_other_files(tmp_path: Path) -> None:
    path = tmp_path / "a.plan"
    for content in (b"x", b"\x7fELF" + bytes(100), b"{}", b"halo-profile" * 10):
        path.write_bytes(content)
        with pytest.raises(BadPlan, match="is not a plan"):
            read_plan(path)
    with pytest.raises(BadPlan, match="cannot be read: No such file"):
        read_plan(tmp_path / "none")


@pytest.mark.parametrize(("version", "sentence"), [(8, "plan version 8.*newer"), (0, "never")])
def test_refuses_other_versions(tmp_path: Path, version: int, sentence: str) -> None:
    content = bytearray(encode(sample_plan()))
    content[8:12] = struct.pack("<I", version)
    (tmp_path / "a.plan").write_bytes(content)
    with pytest.raises(BadPlan, match=sentence):
        read_plan(tmp_path / "a.plan")


STATES_AT = HEADER + 2 * MODULE + 3 * GROUP
CHECKED_AT = STATES_AT + len(sample_plan().states) * STATE


@pytest.mark.parametrize(
    ("at", "value", "sentence"),
    [
        (40, struct.pack("<I", 8), "object limit or flags"),
        (40, struct.pack("<I", 4), "has selectors and states"),
        (40, struct.pack("<I", 2), "draws groups at random and has states"),
        (36, struct.pack("<I", 70_000), "object limit or flags"),
        (HEADER + 32, struct.pack("<I", 0), "no build-id"),
        (HEADER + 32, struct.pack("<I", 33), "no build-id"),
        (HEADER + 2 * MODULE, struct.pack("<I", 4), "group's flags or reuse"),
        (HEADER + 2 * MODULE + 4, struct.pack("<I", 2), "group's flags or reuse"),
        (STATES_AT, struct.pack("<I", 1), "state 0 is out of place"),
        (STATES_AT + STATE, struct.pack("<I", 1), "state 1 is out of place"),
        (STATES_AT + STATE + 4, struct.pack("<I", 2), "state 1 is out of place"),
        (STATES_AT + STATE + 16, struct.pack("<i", 12), "state 1 has an impossible step"),
        (STATES_AT + STATE + 16, struct.pack("<i", -8), "state 1 has an impossible step"),
        (STATES_AT + STATE + 20, b"\3", "state 1 has an unknown walk rule"),
        (STATES_AT + STATE + 21, b"\2", "state 1 has unknown flags"),
        (STATES_AT + STATE + 22, struct.pack("<H", 3), "state 1 names a group"),
        (STATES_AT + STATE + 24, struct.pack("<h", 4), "state 1 has unknown flags"),
        (STATES_AT + STATE + 28, struct.pack("<I", 1), "state 1 has unknown flags"),
        (STATES_AT + STATE + 14, struct.pack("<H", 1), "state 1 has no valid address"),
        (STATES_AT + STATE + 13, b"\x80", "state 1 has no valid address"),
        (HEADER + 2 * MODULE + 8, b"\1", "group's page layout is impossible"),
        (HEADER + 36, b"\1", "a module has an unknown field"),
        (48, b"\1", "a header field"),
        (8, struct.pack("<I", 1), "a header field"),
        (CHECKED_AT + 32, struct.pack("<I", 0), "a checked module has no build-id"),
        (CHECKED_AT + 36, struct.pack("<I", 2), "lacks its relaxations"),
        (CHECKED_AT + 36, struct.pack("<I", 0), "a relaxation belongs to no module"),
        (CHECKED_AT + 40, b"\1", "a checked module has no build-id"),
        (CHECKED_AT + 96, struct.pack("<Q", 1 << 47), "a relaxation has no valid address"),
        (CHECKED_AT + 96 + 10, b"\1", "a relaxation has no valid address"),
        (STATES_AT + 26, struct.pack("<H", 24), "state 0 requires an impossible alignment"),
    ],
)
def test_refuses_contradictions(tmp_path: Path, at: int, value: bytes, sentence: str) -> None:
    content = bytearray(encode(sample_plan()))
    content[at : at + len(value)] = value
    content[12:16] = struct.pack("<I", zlib.crc32(content[64:]))
    (tmp_path / "a.plan").write_bytes(content)
    with pytest.raises(BadPlan, match=sentence):
        read_plan(tmp_path / "a.plan")


def laid_out(layout: PageLayout, by_size: bool = True) -> Plan:
    plan = sample_plan()
    return replace(plan, groups=(plan.groups[0]._replace(by_size=by_size, layout=layout),) * 3)


@pytest.mark.parametrize(
    "layout",
    [
        PageLayout(starts=1),
        PageLayout(starts=0xF0F0, way_bytes=32768),
        PageLayout(way_bytes=32768),
        PageLayout(packed=True),
        PageLayout(line_start=True),
        PageLayout(starts=3, line_start=True),
        PageLayout(starts=3, way_bytes=32768, stepping=True),
        PageLayout(stepping=True),
    ],
)
def test_page_layouts_are_read_as_they_were_written(tmp_path: Path, layout: PageLayout) -> None:
    write_plan(laid_out(layout), tmp_path / "a.plan")
    found = read_plan(tmp_path / "a.plan")
    assert [group.layout for group in found.groups] == [layout] * 3
    assert encode(found)[8] == 4


def test_only_plans_with_page_layouts_have_the_newest_version() -> None:
    assert encode(laid_out(PageLayout()))[8] == 3


GROUP_AT = HEADER + 2 * MODULE
BY_SIZE, MASKED, PACKED, LINE_START, STEPPING, WAY = 2, 4, 8, 16, 32, 12 << 8


@pytest.mark.parametrize(
    ("version", "flags", "starts", "sentence"),
    [
        (4, BY_SIZE | MASKED | WAY, 0, "layout is impossible"),
        (4, BY_SIZE | MASKED, 1, "layout is impossible"),
        (4, BY_SIZE | MASKED | 11 << 8, 1, "layout is impossible"),
        (4, BY_SIZE | MASKED | 16 << 8, 1, "layout is impossible"),
        (4, BY_SIZE | MASKED | PACKED | WAY, 1, "layout is impossible"),
        (4, BY_SIZE | PACKED, 1, "layout is impossible"),
        (4, BY_SIZE | WAY, 0, "layout is impossible"),
        (4, MASKED | WAY, 1, "mixed-size pages"),
        (4, PACKED, 0, "mixed-size pages"),
        (4, BY_SIZE | PACKED | LINE_START, 0, "layout is impossible"),
        (4, LINE_START, 0, "mixed-size pages"),
        (4, BY_SIZE | STEPPING, 0, "layout is impossible"),
        (4, BY_SIZE | PACKED | STEPPING, 0, "layout is impossible"),
        (4, BY_SIZE | MASKED | LINE_START | STEPPING | WAY, 1, "layout is impossible"),
        (4, MASKED | STEPPING | WAY, 1, "mixed-size pages"),
        (4, BY_SIZE | 64, 0, "flags or reuse"),
        (3, BY_SIZE | MASKED | STEPPING | WAY, 1, "flags or reuse"),
        (3, BY_SIZE | MASKED | WAY, 1, "flags or reuse"),
    ],
)
def test_impossible_page_layouts_are_refused(
    tmp_path: Path, version: int, flags: int, starts: int, sentence: str
) -> None:
    content = bytearray(encode(sample_plan()))
    content[8:12] = struct.pack("<I", version)
    struct.pack_into("<IIQ", content, GROUP_AT, flags, 0, starts)
    content[12:16] = struct.pack("<I", zlib.crc32(content[64:]))
    (tmp_path / "a.plan").write_bytes(content)
    with pytest.raises(BadPlan, match=sentence):
        read_plan(tmp_path / "a.plan")


def random_pools(alignment: int = 16) -> Plan:
    groups = [PlanGroup(False, 0)] * 3
    return drawing_plan(groups, 4096, alignment, PlanModule(MODULES[0].build_id))


def test_random_pools_are_read_as_they_were_written(tmp_path: Path) -> None:
    for alignment in (0, 16):
        write_plan(random_pools(alignment), tmp_path / "a.plan")
        assert read_plan(tmp_path / "a.plan") == random_pools(alignment)
    content = encode(random_pools())
    assert struct.unpack_from("<6I", content, 24) == (1, 3, 1, 4096, 2, 1)
    assert content[-STATE:] == struct.pack("<IIQiBBHhHI", 0, 0, 0, 0, 0, 0, 0xFFFE, 0, 16, 0)


@pytest.mark.parametrize(
    "change",
    [
        {"groups": ()},
        {"executable": None},
        {"modules": (PlanModule("aa"), PlanModule("bb"))},
        {"states": random_pools(32).states},
        {"states": random_pools().states * 2},
        {"states": (random_pools().states[0]._replace(verdict=0),)},
    ],
)
def test_random_pools_with_states_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    (tmp_path / "a.plan").write_bytes(encode(replace(random_pools(), **change)))
    with pytest.raises(BadPlan):
        read_plan(tmp_path / "a.plan")


def test_a_failed_write_leaves_the_old_plan(tmp_path: Path) -> None:
    write_plan(sample_plan(), tmp_path / "a.plan")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"a.plan", "a.plan.json"}
    with pytest.raises(BadInput, match="cannot be written: No such file"):
        write_plan(sample_plan(), tmp_path / "nowhere" / "a.plan")


def test_a_review_of_another_plan_is_not_taken_for_this_one(tmp_path: Path) -> None:
    path, review = tmp_path / "a.plan", tmp_path / "a.plan.json"
    write_plan(sample_plan(), path)
    document = json.loads(review.read_text())
    document["compact"]["crc32"] ^= 1
    for text in (json.dumps(document), "", "[]", '{"format": "halo-plan"}'):
        review.write_text(text)
        assert read_plan(path).review is None
    review.unlink()
    assert dict(plan_summary(read_plan(path)))["groups"] == "3"


def test_the_reviewable_form_has_the_documented_keys(tmp_path: Path) -> None:
    write_plan(sample_plan(), tmp_path / "a.plan")
    document = json.loads((tmp_path / "a.plan.json").read_text())
    assert (document["format"], document["version"], document["form"]) == ("halo-plan", 3, 2)
    assert document["modules"][0] == {"path": MODULES[0].path, "build_id": MODULES[0].build_id}
    assert document["groups"][0] == {
        "reason": "reason 0",
        "coverage": 0.25,
        "weight": 0,
        "contexts": [
            {
                "context": 0,
                "accesses": 9,
                "allocations": 1,
                "sizes": [[24, 1]],
                "stack": [0, 1, 2],
            }
        ],
        "others": {"count": 0, "ranges": [], "accesses": 0},
    }
    assert document["frames"][:3] == ["program+0x10", "library+0x20", "program+0x30"]
    conflicts = {"slots": 48, "hot_line": 1, "recorded": 70, "spread": 60.5, "placed": 2.5}
    assert document["groups"][2]["conflicts"] == conflicts
    assert document["alignment"]["checked"][0] == {
        "path": MODULES[0].path,
        "build_id": MODULES[0].build_id,
        "relaxations": 1,
    }
    assert document["identification"]["states"] == len(sample_plan().states)
    assert document["identification"]["undecidable"]["contexts"]["count"] == 0


def test_plans_of_any_distance_survive_a_round_trip(tmp_path: Path) -> None:
    sample = Sample()
    for at in range(100):
        sample.add([16, 32 + at % 7, 64 + at], accesses=at)
    groups = tuple(Group(tuple(range(at, 100, 9)), "") for at in range(9))
    plan = build_plan(sample.profile(), Grouping("t", groups), {}, any_distance)
    write_plan(plan, tmp_path / "a.plan")
    assert read_plan(tmp_path / "a.plan").states == plan.states


def test_a_plan_names_the_program_even_if_none_of_its_call_sites_count() -> None:
    sample = Sample()
    sample.add([(1, 32)])
    groups = (Group((0,), "", 1.0, 0),)
    plan = build_plan(sample.profile(), Grouping("test", groups), {}, any_distance)
    assert [module.build_id for module in plan.modules] == [
        MODULES[1].build_id,
        MODULES[0].build_id,
    ]
    assert plan.executable == 1


def test_a_program_without_a_build_id_is_not_named() -> None:
    sample = Sample(modules=(MODULES[0]._replace(build_id=""), MODULES[1]))
    sample.add([(1, 32)])
    groups = (Group((0,), "", 1.0, 0),)
    plan = build_plan(sample.profile(), Grouping("test", groups), {}, any_distance)
    assert plan.executable is None
    assert struct.unpack_from("<I", encode(plan), 44) == (0,)


def test_arguments_that_are_not_utf_8_are_kept(tmp_path: Path) -> None:
    plan = sample_plan()
    assert plan.review is not None
    profile = {**plan.review.profile, "program": {"path": "/p", "args": ["caf\udce9"]}}
    write_plan(replace(plan, review=replace(plan.review, profile=profile)), tmp_path / "a.plan")
    found = read_plan(tmp_path / "a.plan").review
    assert found is not None and found.profile["program"]["args"] == ["caf\udce9"]


def test_a_plan_that_no_reader_accepts_is_not_written(tmp_path: Path) -> None:
    write_plan(sample_plan(), tmp_path / "a.plan")
    before = (tmp_path / "a.plan").read_bytes()
    with pytest.raises(BadPlan, match="not usable"):
        write_plan(replace(sample_plan(), max_object=1 << 20), tmp_path / "a.plan")
    assert (tmp_path / "a.plan").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"a.plan", "a.plan.json"}


@pytest.mark.parametrize("distance", [12, 2 << 20, 1 << 33])
def test_trusted_distances_are_those_of_stacks(tmp_path: Path, distance: int) -> None:
    sample = Sample()
    sample.add([16, 48], accesses=9)
    sample.distances = dict.fromkeys(sample.frames, distance)
    grouping = Grouping("test", (Group((0,), "reason", 0.25, 0),))
    none = FrameRule(RuleKind.NONE, 0, 0)
    options = {"trust_recorded": "true"}
    plan = build_plan(sample.profile(), grouping, options, lambda *_: none, prove=any_alignment)
    write_plan(plan, tmp_path / "a.plan")
    assert read_plan(tmp_path / "a.plan").states == plan.states
