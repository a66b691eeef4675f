"""Results folders: two measurements never share one, and a finished one is never overwritten."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from halo.cli.shared.results import drop_empty, results_folder
from halo.measure.folders import fresh_folder, is_finished
from support.samples.results import document, save


def test_a_folder_that_is_there_is_not_given_twice(tmp_path: Path) -> None:
    wanted = tmp_path / "results" / "prog-1"
    made = [fresh_folder(wanted).name for _ in range(3)]
    assert made == ["prog-1", "prog-1-2", "prog-1-3"]


def test_each_of_many_at_once_gets_a_folder_of_its_own(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: fresh_folder(tmp_path / "prog"), range(40)))
    assert len(set(made)) == 40


def test_a_finished_measurement_is_told(tmp_path: Path) -> None:
    folder = save(document(), tmp_path / "done")
    assert is_finished(folder)


@pytest.mark.parametrize("what", ["missing", "empty", "damaged", "failed", "unfinished"])
def test_what_is_not_finished_may_be_replaced(tmp_path: Path, what: str) -> None:
    folder = tmp_path / what
    if what != "missing":
        folder.mkdir()
    raw = document()
    if what == "failed":
        raw["summary"]["failure"] = "It printed something else."
    if what == "unfinished":
        raw["trials"]["reference"] = {}
    if what not in ("missing", "empty"):
        text = "{" if what == "damaged" else json.dumps(raw)
        (folder / "results.json").write_text(text)
    assert not is_finished(folder)


def test_a_folder_that_the_user_made_stays(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    (mine / "empty").mkdir(parents=True)
    folder = results_folder(mine, "prog")
    (folder / "stages").mkdir()
    drop_empty(folder)
    assert list(mine.iterdir()) == [mine / "empty"]
    (mine / "empty").rmdir()
    drop_empty(results_folder(mine, "prog"))
    drop_empty(results_folder(mine / "a" / "b", "prog"))
    assert mine.is_dir() and list(mine.iterdir()) == []


def test_an_empty_folder_is_removed_and_results_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = (results_folder(None, name) for name in ("a", "b"))
    drop_empty(first)
    assert not first.exists() and second.exists()
    (second / "results.json").touch()
    drop_empty(second)
    assert second.exists()
    (second / "results.json").unlink()
    drop_empty(second)
    assert list(tmp_path.iterdir()) == []
    of_several = [results_folder(Path("results/bench-1") / name, name) for name in ("a", "b")]
    drop_empty(of_several[0])
    assert of_several[1].exists()
    drop_empty(of_several[1])
    assert list(tmp_path.iterdir()) == []
    other = results_folder(tmp_path / "mine" / "c", "c")
    drop_empty(other)
    assert list(tmp_path.iterdir()) == []
