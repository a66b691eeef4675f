"""Users without a home or a cache, in the locale C, with names of files that are not UTF-8."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from halo.record.profile import write_profile
from support.command import REPOSITORY, compile_c, halo
from support.doctor import ALLOCATES
from support.samples.plan import Sample
from support.samples.results import document, save
from support.samples.split import arcs_and_nodes

NOWHERE = "/proc/nowhere"  # in which no folder can be made
HOMES = {
    "no home": ("env", "-u", "XDG_CACHE_HOME", "-u", "XDG_CONFIG_HOME", f"HOME={NOWHERE}"),
    "no cache": ("env", f"XDG_CACHE_HOME={NOWHERE}", f"XDG_CONFIG_HOME={NOWHERE}"),
}
LOCALES = {
    "LC_ALL=C": ("env", "LC_ALL=C"),
    "LANG=POSIX": ("env", "-u", "LC_ALL", "-u", "LC_CTYPE", "LANG=POSIX"),
    "no UTF-8 mode": ("env", "LC_ALL=C", "PYTHONUTF8=0", "PYTHONCOERCECLOCALE=0"),
}
ODD = "caf\udce9 \u732b"  # as Python writes the byte E9, and a character


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("surroundings")
    save(document(), folder / "one")
    arcs_and_nodes().write(folder / "columns")
    sample = Sample()
    sample.add([16, 48], accesses=9)
    write_profile(sample.profile(), folder / "p.profile")
    compile_c(ALLOCATES, folder / "prog")
    return folder


@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize(
    "words",
    [
        ("plot", "speedup", "one", "-o", "speedup.svg"),
        ("report", "one", "-o", "page.html"),
        ("trace", "split", "columns", "--picture", "split.svg"),
    ],
    ids=lambda words: words[0],
)
def test_what_draws_says_nothing_of_caches(folder: Path, words: tuple[str, ...], home: str) -> None:
    outcome = halo(*words, cwd=folder, before=HOMES[home])
    assert (outcome.status, outcome.stderr) == (0, "")


def test_only_figures_load_the_library_that_draws() -> None:
    """Its messages are turned off where these packages begin."""
    for path in (REPOSITORY / "halo").rglob("*.py"):
        if re.search(r"^\s*(import|from) matplotlib", path.read_text(), re.MULTILINE):
            assert "figures" in path.parts, path


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("--help",), 0),
        (("doctor", "--", "./prog"), 0),
        (("plan", "p.profile", "-o", "p.plan", "-v"), 0),
        (("plan", "--list"), 0),
        (("plot", "--list"), 0),
        (("plot", "aged", "missing"), 117),
        (("report", "one", "-o", "page.html"), 0),
        (("trace", "split", "columns"), 0),
        (("trace", "sharing", "columns"), 0),
        (("trace", "analyse", "--list"), 0),
    ],
    ids=lambda it: " ".join(it) if isinstance(it, tuple) else "",
)
def test_the_locale_c_gets_ascii(
    folder: Path, words: tuple[str, ...], status: int, locale: str
) -> None:
    outcome = halo(*words, cwd=folder, before=LOCALES[locale])
    assert outcome.status == status, outcome.stderr
    assert (outcome.stdout + outcome.stderr).isascii()
    assert "Unexpected" not in outcome.stderr and "Traceback" not in outcome.stderr


@pytest.mark.parametrize("locale", [*LOCALES, "UTF-8"])
def test_names_of_files_are_printed_as_they_are(folder: Path, tmp_path: Path, locale: str) -> None:
    """Also those that are not UTF-8, on both streams."""
    before = LOCALES.get(locale, ("env", "LC_ALL=C.UTF-8"))
    odd = tmp_path / ODD
    odd.mkdir()
    shutil.copytree(folder / "one", odd / "one")
    shutil.copy(folder / "prog", odd / "prog")
    shutil.copy(folder / "p.profile", odd / "p.profile")
    calls = [
        (("plan", f"{odd}/p.profile", "-o", f"{odd}/p.plan"), 0, "stdout", "p.plan"),
        (("plot", "speedup", f"{odd}/one", "-o", f"{odd}/s.svg"), 0, "stdout", "s.svg"),
        (("report", f"{odd}/one", "-o", f"{odd}/r.html"), 0, "stdout", "r.html"),
        (("doctor", "--", f"{odd}/prog"), 0, "stdout", "prog"),
        (("plan", f"{odd}/gone.profile"), 115, "stderr", "gone.profile"),
        (("report", f"{odd}/gone"), 117, "stderr", "gone"),
    ]
    for words, status, stream, name in calls:
        outcome = halo(*words, cwd=folder, before=before, errors="surrogateescape")
        assert outcome.status == status, outcome.stderr
        assert f"{odd}/{name}" in getattr(outcome, stream), words
    assert sorted(os.listdir(odd)) == sorted(
        ["one", "p.plan", "p.plan.json", "p.profile", "prog", "r.html", "s.svg"]
    )


@pytest.mark.parametrize(
    ("locale", "wanted"),
    [
        ({"LANG": "C"}, ""),
        ({}, ""),
        ({"LC_CTYPE": "C"}, "C"),
        ({"LC_CTYPE": "C.UTF-8"}, "C.UTF-8"),
        ({"LC_CTYPE": "C.UTF-8", "LANG": "C"}, "C.UTF-8"),
    ],
)
def test_programs_get_the_users_locale(folder: Path, locale: dict[str, str], wanted: str) -> None:
    """Python sets LC_CTYPE in the locale C, of which the program must see nothing."""
    assert halo("plan", "p.profile", "-o", "seen.plan", cwd=folder).status == 0
    unset = ("env", "-u", "LC_ALL", "-u", "LC_CTYPE", "-u", "LANG")
    set_again = (f"{name}={value}" for name, value in locale.items())
    words = ("exec", "--plan", "seen.plan", "--stale", "run", "--", "/bin/sh", "-c")
    outcome = halo(*words, 'echo "$LC_CTYPE"', cwd=folder, before=(*unset, *set_again))
    assert (outcome.status, outcome.stdout) == (0, f"{wanted}\n"), outcome.stderr
