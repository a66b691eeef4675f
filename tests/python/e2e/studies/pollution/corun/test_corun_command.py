"""`halo study corun` on programs, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from halo.base.settings import read_settings
from halo.studies.pollution.corun.document import CorunDocument
from halo.studies.pollution.corun.mixes_file import MixesFile
from support.command import BUILD, REPOSITORY, compile_c, halo
from support.refusals import BAD_INPUT, USAGE, check, refused

TRIAL_FAILED = 119
TREE = [str(BUILD / "bench" / "rbtree"), "3000", "5000", "100", "1"]
GRID = [str(BUILD / "bench" / "sweep"), "100000", "2", "1"]
CACHE = '[[cache]]\nname = "{}"\nbytes = {}\nways = 8\ncycles = 45\n'
TLB = '[[tlb]]\nname = "TLB"\npages = 64\nways = 4\n'


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of streams, and corun.json of a run that made them."""
    folder = tmp_path_factory.mktemp("kept")
    outcome = halo(*command(folder), "--json", str(folder / "corun.json"), "--", *TREE, "--", *GRID)
    assert outcome.status == 0, outcome.stderr
    assert "rbtree: " in outcome.stdout, "the programs' own output"
    return folder


def command(folder: Path, *more: str) -> list[str]:
    options = ["--machine", "e7420", "--seeds", "3", "--streams", str(folder)]
    return ["corun", *options, "--classes", "exact", "--classes", "open", *more]


def test_the_document_has_each_program_alone_and_each_mix(kept: Path) -> None:
    found = msgspec.json.decode((kept / "corun.json").read_bytes(), type=CorunDocument)
    assert (found.machine, found.colours, found.first, found.last) == ("e7420", 256, 0, 31)
    assert [one.name for one in found.programs] == ["rbtree", "sweep"]
    assert all(one.complete and one.requests > 1000 for one in found.programs)
    assert found.programs[1].arguments == tuple(GRID[1:])
    assert [mix.classes for mix in found.mixes] == ["open", "exact"]
    for program in found.mixes[0].programs:
        assert program.speedups == (1, 1, 1), "the mix with all open is the measure"
    for program in found.mixes[1].programs:
        assert len(program.cycles) == len(program.misses) == len(program.runs) == 3
        assert min(program.runs) >= 1


def test_kept_streams_are_used_again(kept: Path) -> None:
    streams = {path: path.stat().st_mtime_ns for path in kept.glob("*.stream")}
    assert len(streams) == 2
    outcome = halo(*command(kept), "--", *TREE, "--", *GRID)
    assert outcome.status == 0, outcome.stderr
    assert "rbtree: " not in outcome.stdout, "no program ran"
    assert {path: path.stat().st_mtime_ns for path in kept.glob("*.stream")} == streams


def test_programs_alone(kept: Path) -> None:
    options = ["--machine", "e7420", "--streams", str(kept), "--alone", "--restrict", "all"]
    outcome = halo("study", "corun", *options, "--", *GRID)
    assert outcome.status == 0, outcome.stderr
    assert "slowdown" in outcome.stdout
    assert "speed-up" not in outcome.stdout


def test_a_program_alone_gains_from_confining_what_displaces_others(tmp_path: Path) -> None:
    # Twice 6 MiB of pictures, and a table of 3 MiB, in a cache of 8 MiB.
    frames = [str(BUILD / "bench" / "frames"), "4", "6291456", "3145728", "300000", "1"]
    options = ["--machine", "e7420", "--alone", "--seeds", "2", "--classes", "selected"]
    document = tmp_path / "alone.json"
    outcome = halo("study", "corun", *options, "--json", str(document), "--", *frames)
    assert outcome.status == 0, outcome.stderr
    assert "victims" not in outcome.stdout, "no summary without other programs"
    found = msgspec.json.decode(document.read_bytes(), type=CorunDocument)
    before, after = found.mixes
    assert (before.classes, after.classes) == ("open", "selected")
    for old, new in zip(before.programs[0].misses, after.programs[0].misses, strict=True):
        assert new < 0.85 * old


def test_a_damaged_stream_is_refused(kept: Path, tmp_path: Path) -> None:
    for path in kept.glob("*.stream"):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        (tmp_path / path.name).write_bytes(content)
    refused(halo(*command(tmp_path), "--", *TREE, "--", *GRID), BAD_INPUT, "checksum is wrong")


def test_a_mix_needs_two_to_eight_programs(tmp_path: Path) -> None:
    check(tmp_path, USAGE, "2 to 8 programs, not 1", "corun", "--", *TREE)
    nine = ["--", *TREE] * 9
    check(tmp_path, USAGE, "2 to 8 programs, not 9", "corun", *nine)
    check(tmp_path, USAGE, "A program is missing", "corun", "--", *TREE, "--")
    check(tmp_path, USAGE, "The programs are missing", "corun")


def test_a_failing_program_has_its_status_and_name(tmp_path: Path) -> None:
    failing = compile_c("int main(void) { return 3; }", tmp_path / "failing")
    outcome = halo(*command(tmp_path), "--", *TREE, "--", str(failing))
    assert outcome.status == TRIAL_FAILED
    assert "failing ended with status 3" in outcome.stderr
    killed = compile_c("#include <stdlib.h>\nint main(void) { abort(); }", tmp_path / "killed")
    outcome = halo(*command(tmp_path), "--", str(killed), "--", *TREE)
    assert outcome.status == TRIAL_FAILED
    assert "killed ended with signal 6" in outcome.stderr


ENDLESS = """
#include <stdlib.h>
int main(void) {
  volatile char* all = malloc(1 << 20);
  for (unsigned at = 0;; at = (at + 64) % (1 << 20)) ++all[at];
}
"""


def test_an_endless_program_is_cut_at_the_limit(tmp_path: Path) -> None:
    endless = compile_c(ENDLESS, tmp_path / "endless")
    options = ["--machine", "e7420", "--limit", "300000", "--json", str(tmp_path / "out.json")]
    outcome = halo("study", "corun", *options, "--seeds", "1", "--", str(endless), "--", *TREE)
    assert outcome.status == 0, outcome.stderr
    assert "endless (cut)" in outcome.stdout
    found = msgspec.json.decode((tmp_path / "out.json").read_bytes(), type=CorunDocument)
    assert not found.programs[0].complete
    assert found.programs[0].accesses < 310_000
    assert found.programs[0].requests > 1000


@pytest.mark.parametrize(
    ("option", "status", "words"),
    [
        ("31-8", BAD_INPUT, "restricted range has no colours"),
        ("0-256", BAD_INPUT, "ends behind the last of 256 colours"),
        ("eight", USAGE, "is not two colours"),
    ],
)
def test_an_impossible_range_is_refused(
    tmp_path: Path, option: str, status: int, words: str
) -> None:
    options = ["--machine", "e7420", "--restrict", option]
    check(tmp_path, status, words, "corun", *options, "--", *TREE, "--", *GRID)


def test_an_impossible_machine_is_refused(tmp_path: Path) -> None:
    three = CACHE.format("L1", 32768) + CACHE.format("L2", 3 << 20) + TLB
    (tmp_path / "three.toml").write_text(three)
    (tmp_path / "one.toml").write_text(CACHE.format("L1", 8 << 20) + TLB)
    (tmp_path / "none.toml").write_text(TLB)
    for name, words in (
        ("none", "one to 4 entries [[cache]]"),
        ("three", "96 colours, which is not a power of two"),
        ("one", "no last level behind a private one"),
    ):
        options = ["--machine", f"{name}.toml"]
        check(tmp_path, BAD_INPUT, words, "corun", *options, "--", *TREE, "--", *GRID)


def test_the_mixes_of_the_evaluation_exist() -> None:
    mixes = MixesFile(REPOSITORY / "bench" / "programs" / "mixes.toml", read_settings()).mixes()
    main = [mix for mix in mixes if mix.kind == "polluter-victim"]
    assert len(main) >= 6
    for mix in main:
        assert sorted(mix.roles) == ["polluter", "polluter", "victim", "victim"]
    assert len({frozenset(member.name for member in mix.members) for mix in mixes}) == len(mixes)
    assert len({mix.kind for mix in mixes}) == 6
