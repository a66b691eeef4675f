"""Profiles are read strictly and merged the same way whatever the order of their parts."""

from __future__ import annotations

import gzip
import itertools
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import BadInput, BadProfile
from halo.binary.elf import build_id_of
from halo.binary.elf.digest import Digest
from halo.record.profile import (
    DIGESTS,
    SAMPLING,
    Module,
    digest_in,
    merge_parts,
    merge_profiles,
    read_profile,
    write_profile,
)
from support.samples.plan import MODULES, Sample


def small() -> Sample:
    sample = Sample()
    a = sample.add([16, 32, (1, 48)], accesses=100, allocations=10)
    b = sample.add([16, 40, (1, 48)], accesses=50, allocations=5)
    c = sample.add([20, (1, 48)], accesses=1, allocations=5, sizes=[(8, 2), (9000, 3)])
    sample.edge(a, b, 40)
    sample.edge(a, a, 7)
    sample.edge(c, b, 1)
    return sample


def save(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document))
    return path


def test_reads_what_it_wrote(tmp_path: Path) -> None:
    profile = small().profile()
    write_profile(profile, tmp_path / "a.profile")
    assert read_profile(tmp_path / "a.profile") == profile


def test_reads_plain_json(tmp_path: Path) -> None:
    profile = read_profile(save(tmp_path / "part.json", small().document()))
    assert profile == small().profile()
    assert [profile.frames[frame].offset for frame in profile.stack(0)] == [16, 32, 48]


def test_digests_of_files_are_kept_and_must_agree(tmp_path: Path) -> None:
    """Recordings of different programs with one build-id cannot be merged."""
    digests = [Digest(1, 2**64 - 1), Digest(1, 5)]
    profiles = [
        replace(small().profile(), sections={DIGESTS.key: {MODULES[0]: it}}) for it in digests
    ]
    write_profile(profiles[0], tmp_path / "a.profile")
    found = read_profile(tmp_path / "a.profile")
    assert found == profiles[0] and digest_in(found, MODULES[0]) == digests[0]
    assert DIGESTS.of(merge_profiles([found, found], "a", ())) == {MODULES[0]: digests[0]}
    with pytest.raises(BadProfile, match=r"different builds of .* one build-id"):
        merge_profiles(profiles, "a", ())


@pytest.mark.parametrize("digest", ["", "12", "x" * 24, 5, None])
def test_a_digest_that_is_none_is_refused(tmp_path: Path, digest: object) -> None:
    row = {"path": "/a", "build_id": "12", "digest": digest}
    document = {**small().document(), "digests": [row]}
    with pytest.raises(BadProfile, match="a digest is not"):
        read_profile(save(tmp_path / "part.json", document))


def test_written_bytes_depend_on_nothing_but_the_profile(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_profile(small().profile(), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_failed_write_leaves_the_old_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.profile"
    write_profile(small().profile(), path)
    before = path.read_bytes()

    def full_disk(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(BadInput, match="No space left"):
        write_profile(small().profile(), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_refuses_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(BadProfile, match="cannot be read: No such file"):
        read_profile(tmp_path / "none")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\x7fELF\x02\x01\xff\xfe", "not JSON"),
        (b"hello", "not JSON"),
        (b"[1, 2]", "its format is not halo-profile"),
        (b'{"format": "halo-plan", "version": 1}', "is a halo plan in its form for review"),
        (b"[" * 100_000, "JSON"),
        (b"HALOPLAN" + bytes(64), "is a halo plan, not a profile"),
    ],
)
def test_refuses_foreign_files(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "x.profile"
    path.write_bytes(content)
    with pytest.raises(BadProfile, match=sentence) as caught:
        read_profile(path)
    assert str(caught.value).count("\n") == 0


def test_refuses_every_way_of_being_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "x.profile"
    plain = json.dumps(small().document()).encode()
    packed = gzip.compress(plain)
    for whole in (plain, packed):
        for size in range(1, len(whole), 7):
            path.write_bytes(whole[:size])
            with pytest.raises(BadProfile):
                read_profile(path)
    for size in (30, len(packed) // 2, len(packed) - 1):
        path.write_bytes(packed[:size])
        with pytest.raises(BadProfile, match="cut short"):
            read_profile(path)


def test_refuses_a_flipped_bit_in_a_compressed_profile(tmp_path: Path) -> None:
    path = tmp_path / "x.profile"
    packed = gzip.compress(json.dumps(small().document()).encode(), mtime=0)
    for at in range(10, len(packed), 3):
        path.write_bytes(packed[:at] + bytes([packed[at] ^ 4]) + packed[at + 1 :])
        with pytest.raises(BadProfile):
            read_profile(path)


def change(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document.update({key: value})


def change_context(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document["contexts"][0].update({key: value})


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (change("version", 2), "profile version 2.*newer halo"),
        (change("version", "1"), "version is missing or not a count"),
        (change("modules", {}), "modules is missing"),
        (change("modules", [1]), "a module has no path"),
        (change("modules", [{"path": "x", "build_id": "XY"}] * 2), "build-id of x"),
        (change("frames", [[0, 1]]), "frames is not a list of 3 integers each"),
        (change("frames", [[0, 1.5, 0]]), "frames is not a list"),
        (change("frames", [[0, 1, 0], [0]]), "frames is not a list"),
        (change("frames", [[2, 1, 0]] * 9), "a frame's module is out of range"),
        (change("frames", [[0, -1, 0]] * 9), "a frame's offset is negative"),
        (change("frames", [[0, 1, -2]] * 9), "a frame's distance"),
        (change("frames", []), "a node's frame is out of range"),
        (change("nodes", []), "node 0 is not the empty stack"),
        (change("nodes", [[0, 0]]), "node 0 is not the empty stack"),
        (change("nodes", [[0, -1], [2, 0], [0, 0]]), "parent does not come before it"),
        (change("nodes", [[0, -1]]), "a context's node is out of range"),
        (change("edges", [[0, 3, 1]]), "an edge's contexts are out of range"),
        (change("edges", [[1, 0, 1]]), "out of order"),
        (change("edges", [[0, 1, -1]]), "an edge's weight is negative"),
        (change("edges", [[0, 1, 2**70]]), "edges is not a list"),
        (change("contexts", [3]), "context 0 is not an object"),
        (change("parameters", None), "parameters is missing"),
        (change("totals", 3), "totals is missing"),
        (change("program", 3), "program is not an object"),
        (change("recorder", 3), "recorder is not an object"),
        (change("sampling", 3), "sampling is missing or not an object"),
        (change("sampling", {"bursts": 3}), "edge_error of sampling"),
        (change("sampling", {"bursts": 3, "edge_error": 1.5}), "edge_error of sampling"),
        (change("sampling", {"bursts": -1, "edge_error": 0.5}), "bursts is missing"),
        (change_context("accesses", -1), "accesses is missing or not a count"),
        (change_context("allocations", True), "allocations is missing or not a count"),
        (change_context("sizes", 3), "sizes of context 0 are not a list"),
        (change_context("sizes", [[1]]), "sizes of context 0 are not pairs"),
        (change_context("alignment", 24), "alignment of context 0"),
    ],
)
def test_refuses_contradictions(
    tmp_path: Path, damage: Callable[[dict[str, Any]], None], sentence: str
) -> None:
    document = small().document()
    damage(document)
    with pytest.raises(BadProfile, match=sentence):
        read_profile(save(tmp_path / "x.profile", document))


def other_process() -> Sample:
    """As `small`, but with other modules, ids and counts, and another order of everything."""
    sample = Sample(modules=(MODULES[1], MODULES[0]))
    c = sample.add([(1, 20), (0, 48)], accesses=500, allocations=2, sizes=[(4, 2)], alignment=32)
    a = sample.add([(1, 16), (1, 32), (0, 48)], accesses=11, allocations=1, sizes=[(32, 1)])
    sample.edge(a, c, 3)
    sample.edge(a, a, 1)
    return sample


def test_merging_adds_up_by_stack(tmp_path: Path) -> None:
    parts = [
        save(tmp_path / "1", small().document()),
        save(tmp_path / "2", other_process().document()),
    ]
    merged = merge_parts(parts, "/bin/prog", ["-x"])
    assert (merged.program, merged.args) == ("/bin/prog", ("-x",))
    stacks = [
        tuple(merged.frames[frame].offset for frame in merged.stack(at))
        for at in range(len(merged.contexts))
    ]
    assert stacks == [(20, 48), (16, 32, 48), (16, 40, 48)]
    first = merged.contexts[0]
    assert (first.accesses, first.allocations, first.alignment) == (501, 7, 32)
    assert (first.min_size, first.max_size) == (4, 9000)
    assert first.sizes == ((9000, 3), (4, 2), (8, 2))
    assert merged.edges == ((0, 1, 3), (0, 2, 1), (1, 1, 8), (1, 2, 40))
    assert merged.contexts[1].sizes == ((24, 10), (32, 1))
    assert merged.totals.allocations == 23
    assert merged.recorder.seconds == 3.0
    assert merged.recorder.peak_memory_bytes == 10


def test_merging_weighs_the_errors_of_sampling(tmp_path: Path) -> None:
    sampled = {**small().document(), "sampling": {"bursts": 9, "edge_error": 0.1}}
    parts = [save(tmp_path / "1", sampled), save(tmp_path / "2", other_process().document())]
    merged = SAMPLING.of(merge_parts(parts, "p"))
    assert merged is not None and merged.bursts == 9
    assert merged.edge_error == pytest.approx(0.1 * 48 / (48 + 4))
    assert SAMPLING.of(merge_parts(parts[1:], "p")) is None
    write_profile(merge_parts(parts, "p"), tmp_path / "p.profile")
    assert SAMPLING.of(read_profile(tmp_path / "p.profile")) == merged


def test_merging_ignores_the_order_of_the_parts(tmp_path: Path) -> None:
    third = Sample()
    third.add([64, 16, 32], accesses=100)
    parts = [
        save(tmp_path / str(at), sample.document())
        for at, sample in enumerate((small(), other_process(), third))
    ]
    merged = {merge_parts(order, "p", []) for order in itertools.permutations(parts)}
    assert len(merged) == 1


def test_merging_is_idempotent_on_its_own_result(tmp_path: Path) -> None:
    once = merge_parts([save(tmp_path / "1", small().document())], "p", [])
    write_profile(once, tmp_path / "2")
    assert merge_parts([tmp_path / "2"], "p", []) == once


@pytest.mark.parametrize(
    ("one", "other", "merged"), [(0, 32, 32), (32, 0, 32), (32, 32, 32), (32, 48, -1), (-1, 32, -1)]
)
def test_merging_distances(tmp_path: Path, one: int, other: int, merged: int) -> None:
    parts = []
    for name, distance in (("1", one), ("2", other)):
        sample = Sample()
        sample.add([16])
        sample.distances[(0, 16)] = distance
        parts.append(save(tmp_path / name, sample.document()))
    assert merge_parts(parts, "p", []).frames[0].distance == merged


def test_merging_fills_in_build_ids(tmp_path: Path) -> None:
    program = "/bin/true"
    sample = Sample(modules=(Module(program, ""), Module("[vdso]", "")))
    sample.add([16, (1, 4)])
    merged = merge_parts([save(tmp_path / "1", sample.document())], program, [])
    assert merged.modules == (Module(program, build_id_of(program)), Module("[vdso]", ""))
    assert len(build_id_of(program)) == 40


def test_merging_keeps_frames_outside_modules(tmp_path: Path) -> None:
    sample = Sample()
    sample.add([16, (-1, 77)])
    merged = merge_parts([save(tmp_path / "1", sample.document())], "p", [])
    assert [merged.frames[frame][:2] for frame in merged.stack(0)] == [(1, 16), (-1, 77)]


def test_merging_refuses_nothing_and_unlike_parts(tmp_path: Path) -> None:
    with pytest.raises(BadProfile, match="left no profile behind"):
        merge_parts([], "/bin/prog", [])
    unlike = small().document()
    unlike["parameters"]["affinity_distance"] = 64
    parts = [save(tmp_path / "1", small().document()), save(tmp_path / "2", unlike)]
    with pytest.raises(BadProfile, match="different parameters"):
        merge_parts(parts, "p", [])


def test_a_stack_has_the_same_key_in_every_profile() -> None:
    """Whatever the numbers of contexts, frames and modules."""
    stacks: list[list[int | tuple[int, int]]] = [
        [1, 2],
        [1, 2, 3],
        [2, 1],
        [(1, 1), 2],
        [1],
        [(1, 1)],
    ]
    one, other = Sample(), Sample(modules=MODULES[::-1])
    for stack in stacks:
        one.add(stack)
    for stack in reversed(stacks):
        sites = [(0, it) if isinstance(it, int) else it for it in stack]
        other.add([(1 - module, offset) for module, offset in sites])
    keys = [one.profile().stack_key(at) for at in range(len(stacks))]
    assert [other.profile().stack_key(at) for at in range(len(stacks))] == keys[::-1]
    assert len(set(keys)) == len(stacks)
