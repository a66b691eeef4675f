"""Plans of one profile share the alignment proof, the names of frames and the grouping."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from halo.binary.alignment import Proof, prove_alignment
from halo.binary.elf import CodeLocation, build_id_of, symbolize
from halo.measure.candidates import make_plans
from halo.measure.deep.choice import choose_variants
from halo.plan import Grouping, read_plan
from halo.plan.strategies.factory import make_grouping
from halo.plan.strategies.planning import make_plan
from halo.record.profile import Module, Profile
from support.samples.plan import Sample


def recorded(folder: Path) -> Profile:
    """A profile of a small program, with contexts for every strategy to group."""
    program = folder / "prog"
    command = ["cc", "-x", "c", "-", "-Wl,--build-id", "-o", str(program)]
    subprocess.run(command, input="int main(void) { return 0; }", text=True, check=True)
    sample = Sample(modules=(Module(str(program), build_id_of(program)),))
    for at in range(60):
        sample.add([16 * at + 16, 0x4000, 0x5000], accesses=1000 + at, allocations=50)
    sample.edges = [(at, at + 1, 900) for at in range(59)]
    return replace(sample.profile(), program=str(program))


def test_what_plans_share_is_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = recorded(tmp_path)
    proofs: list[Module] = []
    located: Counter[int] = Counter()
    grouped: Counter[tuple[str, ...]] = Counter()

    def counted_proof(program: Module, modules: Iterable[Module], trust: bool = False) -> Proof:
        proofs.append(program)
        return prove_alignment(program, modules, trust)

    def counted_names(path: str | Path, offsets: Iterable[int]) -> Mapping[int, CodeLocation]:
        wanted = list(offsets)
        located.update(wanted)
        return symbolize(path, wanted)

    def counted_group(of: Profile, name: str, options: Mapping[str, str]) -> Grouping:
        grouped[(name, *map(str, sorted(options.items())))] += 1
        return make_grouping(of, name, options)

    monkeypatch.setattr("halo.plan.alignment.prove_alignment", counted_proof)
    monkeypatch.setattr("halo.record.profile.frame_names.symbolize", counted_names)
    monkeypatch.setattr("halo.plan.strategies.planner.make_grouping", counted_group)
    (tmp_path / "plans").mkdir()
    source = tmp_path / "train.profile"
    made = make_plans(profile, choose_variants([]), tmp_path / "plans", source=source)
    assert len(made) > 4
    assert len(proofs) == 1
    assert located and set(located.values()) == {1}
    assert set(grouped.values()) == {1}
    for variant, path, _ in made:
        review = read_plan(path).review
        assert review is not None and review.source.file == str(source)
        alone = make_plan(profile, variant.strategy, variant.options)
        assert read_plan(path).states == alone.states
        assert alone.review is not None and review.groups == alone.review.groups
