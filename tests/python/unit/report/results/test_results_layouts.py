"""One program under several layouts: a folder of `halo study eval simulate --classes`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import BadInput
from halo.studies.layouts.results import read_layouts
from support.samples.simulations import layouts, simulated


def test_layouts_have_the_order_that_is_asked_for(tmp_path: Path) -> None:
    folder = layouts(tmp_path / "work", {"glibc": 40, "after": 5})
    (found,) = read_layouts([folder])
    assert (found.program, list(found.runs)) == ("work", ["after", "glibc"])
    assert list(read_layouts([folder], ("glibc", "after"))[0].runs) == ["glibc", "after"]
    assert found.runs["glibc"].classes.conflict == 40
    assert found.runs["glibc"].classes.misses == 50


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"classes": None}, r"after\.json has no classes of misses; simulate .* with --classes"),
        ({"arguments": ["2"]}, "are not of one command on one simulated machine"),
        ({"program": "/nowhere/other"}, "are not of one command on one simulated machine"),
        ({"classes": {"conflict": 1}}, r"after\.json is damaged: classes"),
    ],
)
def test_files_of_a_folder_have_to_be_alike(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    folder = layouts(tmp_path / "work", {"glibc": 40, "after": 5}, after=changes)
    with pytest.raises(BadInput, match=words):
        read_layouts([folder], ("glibc", "after"))


def test_folders_belong_to_one_machine_and_to_different_programs(tmp_path: Path) -> None:
    one = layouts(tmp_path / "one", {"glibc": 40})
    machine = {**simulated()["machine"], "page": 4096}
    other = layouts(tmp_path / "other", {"glibc": 40}, glibc={"machine": machine})
    with pytest.raises(BadInput, match="are of different simulated machines"):
        read_layouts([one, other])
    with pytest.raises(BadInput, match="are named one; give one of them"):
        read_layouts([one, one])


def test_what_a_folder_lacks_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not a folder with results"):
        read_layouts([tmp_path])
    folder = layouts(tmp_path / "work", {"glibc": 40})
    with pytest.raises(BadInput, match=r"has no spread\.json; it has glibc\."):
        read_layouts([folder], ("spread",))
