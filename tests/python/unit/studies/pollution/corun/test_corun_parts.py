"""Categories, files of mixes, and summaries of `halo study corun`."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from halo.base.errors import BadInput, UsageError
from halo.base.settings import read_settings
from halo.binary.process.target import Target
from halo.studies.pollution.corun import command
from halo.studies.pollution.corun.categories import category, describe
from halo.studies.pollution.corun.document import CorunProgram
from halo.studies.pollution.corun.members import Member, PlannedMix, split_programs
from halo.studies.pollution.corun.mixes_file import MixesFile
from halo.studies.pollution.corun.speedups import mixes_of, summarise
from halo.studies.pollution.corun.streams import StreamMaker, WatchTimes
from halo.studies.pollution.corun.tools import Counts, Mixed, Run, StreamFacts
from support.command import REPOSITORY


@pytest.mark.parametrize(
    ("slowdown", "rate", "expected"),
    [
        (0.09, 5.1, "polluter"),
        (0.09, 4.9, "neutral"),
        (0.11, 9.0, "neutral"),
        (0.20, 9.0, "neutral"),
        (0.21, 0.1, "victim"),
        (-0.01, 6.0, "polluter"),
    ],
)
def test_categories_have_the_limits_of_the_paper(
    slowdown: float, rate: float, expected: str
) -> None:
    assert category(slowdown, rate) == expected


def test_a_program_may_be_faster_when_it_is_confined() -> None:
    facts = StreamFacts(1, 1, True, 100, 80, 40, 20, 10, 0)
    runs = (Run("open", 1, (counts(1000),)), Run("confined", 1, (counts(900),)))
    member = Member("p", Target(Path("/bin/true"), "true"), ("a",))
    found = describe(member, Mixed(256, 0, 31, (facts,), runs))
    assert found.slowdown == pytest.approx(-0.1)
    assert (found.rate, found.category) == (95, "polluter")
    assert (found.exact, found.predicted, found.online, found.learnt) == (0.5, 0.25, 0.125, 0)
    assert msgspec.json.decode(msgspec.json.encode(found), type=CorunProgram) == found


def test_the_command_knows_the_classes_of_the_tool() -> None:
    source = (REPOSITORY / "src/studies/pollution/corun/mapping.cc").read_text()
    names = re.search(r"= \{\s*((?:\"\w+\",?\s*)+)\}", source)
    assert names is not None
    assert tuple(re.findall(r"\w+", names[1])) == command.CLASSES


def test_programs_are_between_dashes() -> None:
    assert split_programs(["a", "1", "--", "b"]) == [["a", "1"], ["b"]]
    for words in (["a", "--"], ["a", "--", "--", "b"]):
        with pytest.raises(UsageError, match="A program is missing"):
            split_programs(words)


def mixes_file(tmp_path: Path, text: str) -> MixesFile:
    path = tmp_path / "mixes.toml"
    path.write_text(text)
    return MixesFile(path, read_settings())


GOOD = """
[program.tree]
bundled = "rbtree"
arguments = ["10", "10", "1", "1"]
limit = 1000
[program.grid]
bundled = "sweep"
[[mix]]
name = "one"
kind = "polluter-victim"
polluters = ["grid"]
victims = ["tree"]
"""


def test_a_file_of_mixes(tmp_path: Path) -> None:
    file = mixes_file(tmp_path, GOOD)
    assert file.names() == ["tree", "grid"]
    (mix,) = file.mixes()
    assert (mix.name, mix.kind) == ("one", "polluter-victim")
    assert mix.roles == ("polluter", "victim")
    grid, tree = mix.members
    assert (tree.name, tree.arguments, tree.limit) == ("tree", ("10", "10", "1", "1"), 1000)
    assert grid.arguments[-1] == "1", "the training input"
    assert grid.limit == 0
    assert file.mixes(("one",)) == [mix]
    with pytest.raises(UsageError, match="no mix 'two'; choose among: one"):
        file.mixes(("two",))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mix = 3", "write \\[\\[mix\\]\\]"),
        ("program = 3", "write \\[program.NAME\\]"),
        (GOOD.replace('"rbtree"', "7"), "program 'tree' without: bundled"),
        (GOOD.replace("limit = 1000", "limit = -1"), "program 'tree' without: bundled"),
        (GOOD.replace("limit", "limits"), "program 'tree' without: bundled"),
        (GOOD.replace('["grid"]', '["grit"]'), "no program 'grit'"),
        (GOOD.replace('kind = "polluter-victim"', ""), "without a name or a kind"),
        (GOOD.replace("polluters", "polluter"), "with other keys"),
        (GOOD.replace('victims = ["tree"]', "victims = 3"), "victims are not a list"),
        ("", "has no mixes"),
        (GOOD + GOOD[GOOD.index("[[mix]]") :], "two mixes of one name"),
        ("[", "cannot be read"),
    ],
)
def test_a_bad_file_of_mixes_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        mixes_file(tmp_path, text).mixes()


def test_a_mix_of_one_program_is_refused(tmp_path: Path) -> None:
    file = mixes_file(tmp_path, GOOD.replace('victims = ["tree"]', ""))
    with pytest.raises(UsageError, match="2 to 8 programs, not 1"):
        file.mixes()


def counts(cycles: int) -> Counts:
    return Counts(cycles, 100, 50, 95, 90, 40, 1)


def test_speedups_are_medians_over_the_open_run_with_the_same_frames() -> None:
    facts = StreamFacts(1, 1, True, 1, 1, 0, 0, 0, 0)
    program = Target(Path("/bin/true"), "true")
    planned = PlannedMix(
        "one", "pv", (Member("p", program, ()), Member("v", program, ())), ("polluter", "victim")
    )
    runs = [
        Run(classes, seed, (counts(polluter), counts(victim)))
        for classes, seed, polluter, victim in (
            ("open", 1, 100, 300),
            ("open", 2, 100, 330),
            ("open", 3, 100, 200),
            ("online", 1, 100, 200),
            ("online", 2, 125, 300),
            ("online", 3, 100, 100),
        )
    ]
    found = mixes_of(planned, Mixed(256, 0, 31, (facts, facts), tuple(runs)))
    assert [mix.classes for mix in found] == ["open", "online"]
    polluter, victim = found[1].programs
    assert victim.speedups == (1.5, 1.1, 2.0)
    assert polluter.speedups == (1.0, 0.8, 1.0)
    before, after = summarise(found)
    assert (before.victims, before.worst_polluter) == (1, 1)
    assert (after.mixes, after.victims, after.best) == (1, 1.5, 1.5)
    assert (after.worst_polluter, after.least, after.most) == (1.0, 1.0, 1.5)


def test_a_stream_is_another_one_if_an_input_changes(tmp_path: Path) -> None:
    program, given = tmp_path / "prog", tmp_path / "in"
    program.write_text("")
    given.write_text("1")
    member = Member("prog", Target(program, "prog"), (str(given), "x"))

    def path(engine: str) -> Path:
        named: Any = SimpleNamespace(name=engine)
        tools: Any = SimpleNamespace(machine="")
        maker = StreamMaker(read_settings(), named, tools, WatchTimes(), tmp_path)
        return maker.path_of(member)

    first = path("valgrind")
    assert path("valgrind") == first != path("native")
    given.write_text("another")
    assert path("valgrind") != first
