"""The settings of allocators: which library knows them, their names, their variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from halo.base.errors import MissingPart, UsageError
from halo.binary.process import allocator_settings as module
from halo.binary.process.allocator_settings import (
    SETTINGS,
    Needs,
    has_huge_pages,
    kind_of,
    known_settings,
    unknown_settings,
)
from halo.binary.process.allocators import KNOWN, Allocator, alone, find_allocator


def library(path: Path, *texts: str) -> Path:
    """A file with these texts, each ended as in a table of strings."""
    path.write_bytes(b"\x7fELF\0" + b"".join(text.encode() + b"\0" for text in texts))
    return path


def names(found: Sequence[module.Setting]) -> list[str]:
    return [setting.name for setting in found]


def test_each_setting_is_one_assignment_with_a_name_of_its_own() -> None:
    assert len({(it.kind, it.name) for it in SETTINGS}) == len(SETTINGS)
    assert {it.kind for it in SETTINGS} == set(KNOWN)
    for setting in SETTINGS:
        assert setting.variables == {setting.variable: setting.assignment.split("=", 1)[1]}
        assert setting.variable.isupper() and setting.variables[setting.variable]
        assert ":" not in setting.name and "/" not in setting.name


@pytest.mark.parametrize("name", KNOWN)
def test_installed_allocators_know_their_settings(name: str) -> None:
    found = find_allocator(name)
    assert kind_of(found.library) == name
    assert known_settings(found.library) == [it for it in SETTINGS if it.kind == name]
    assert unknown_settings(found.library) == []


def test_the_kind_of_a_library_is_in_its_text_and_not_in_its_name(tmp_path: Path) -> None:
    """A library that only mentions another allocator is none of that kind."""
    mine = library(tmp_path / "libmine.so", "sdallocx", "opt.metadata_thp")
    assert kind_of(mine) == "jemalloc"
    assert names(known_settings(mine)) == ["huge-pages"]
    assert names(unknown_settings(mine)) == ["background"]
    other = library(tmp_path / "libjemalloc.so.2", "like sdallocx", "opt.metadata_thp")
    assert kind_of(other) == "" and not known_settings(other) and not unknown_settings(other)
    assert kind_of(tmp_path / "gone.so") == "" and not known_settings(tmp_path / "gone.so")


def test_an_older_version_does_not_know_what_its_library_does_not_name(tmp_path: Path) -> None:
    old = library(tmp_path / "libmimalloc.so.1.0", "mi_malloc", "eager_commit")
    assert kind_of(old) == "mimalloc"
    assert known_settings(old) == [] and names(unknown_settings(old)) == ["huge-pages"]
    with pytest.raises(UsageError, match=r"'huge-pages' of libmimalloc\.so\.1\.0 is unknown; this"):
        find_allocator(f"{old}:huge-pages")
    with pytest.raises(UsageError, match="this version knows: none"):
        find_allocator(f"{old}:huge-pages")


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("always [madvise] never", True),
        ("[always] madvise never", True),
        ("always madvise [never]", False),
        (None, False),
    ],
)
def test_huge_pages_of_the_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, given: bool
) -> None:
    monkeypatch.setattr(module, "HUGE_PAGES", tmp_path / "enabled")
    if text is not None:
        (tmp_path / "enabled").write_text(text)
    assert has_huge_pages() is given


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda it: f"{it.kind}:{it.name}")
def test_an_allocator_with_a_setting_is_found_by_its_name(setting: module.Setting) -> None:
    name = f"{setting.kind}:{setting.name}"
    found = find_allocator(name)
    assert (found.name, found.option, found.setting) == (name, name, setting)
    assert found.library == find_allocator(setting.kind).library
    assert found.variables == setting.variables
    assert found.has_huge_pages == (setting.needs is Needs.HUGE_PAGES)
    assert replace(found, name=setting.kind, setting=None) == find_allocator(setting.kind)


def test_a_library_at_a_path_may_have_a_setting(tmp_path: Path) -> None:
    mine = library(tmp_path / "libmine.so", "mi_malloc", "large_os_pages")
    found = find_allocator(f"{mine}:huge-pages")
    assert (found.name, found.library) == ("libmine.so:huge-pages", mine)
    assert find_allocator(found.option) == found
    assert find_allocator(str(mine)).variables == {}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("mimalloc:nothing", "'nothing' of mimalloc is unknown; this version knows: huge-pages"),
        ("mimalloc:", "'' of mimalloc is unknown"),
        ("mimalloc:background", "'background' of mimalloc is unknown"),
        ("glibc:huge", "this version knows: huge-pages"),
        ("glibc:huge-pages:huge-pages", "'huge-pages' of glibc:huge-pages is unknown"),
        ("hoard:huge-pages", "The allocator 'hoard' is unknown; choose one of glibc, "),
        (":huge-pages", "The allocator '' is unknown"),
    ],
)
def test_unknown_settings_are_refused_with_those_that_are_known(name: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        find_allocator(name)


def test_a_missing_library_is_missed_before_its_setting(tmp_path: Path) -> None:
    with pytest.raises(MissingPart, match=r"gone\.so does not exist"):
        find_allocator(f"{tmp_path}/gone.so:huge-pages")


def test_a_path_may_hold_a_colon_in_a_folder() -> None:
    """It is not a setting, and what LD_PRELOAD cannot express is refused as such."""
    with pytest.raises(MissingPart, match=r"/no:where/lib\.so does not exist"):
        find_allocator("/no:where/lib.so")


def test_the_variables_of_a_setting_are_in_the_environment() -> None:
    users = {"A": "b", "LD_PRELOAD": "/x.so"}
    jemalloc = find_allocator("jemalloc:background")
    assert alone(users, jemalloc) == {
        "A": "b",
        "LD_PRELOAD": f"{jemalloc.library}:/x.so",
        "MALLOC_CONF": "background_thread:true",
    }


def test_glibc_with_a_setting_has_nothing_to_preload() -> None:
    found = alone({}, find_allocator("glibc:huge-pages"))
    assert found == {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    assert alone({"A": "b"}, Allocator("glibc", None)) == {"A": "b"}


def test_the_programs_own_allocator_is_found_again_with_its_setting(tmp_path: Path) -> None:
    """By its path, if the user preloads it; nothing is preloaded for one that is linked."""
    mine = library(tmp_path / "libmine.so", "mi_malloc", "large_os_pages")
    (setting,) = known_settings(mine)
    preloaded = Allocator("libmine.so", None, mine, named=True).under(setting)
    found = find_allocator(preloaded.option)
    assert (found.library, found.variables) == (mine, setting.variables)
    linked = Allocator("libmine.so", None, mine).under(setting)
    assert alone({}, linked) == setting.variables


def test_a_library_whose_name_has_a_colon_is_refused_as_such(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds a colon or a space"):
        find_allocator(str(library(tmp_path / "lib:odd", "mi_malloc")))
