"""Scripts that start another program, as those of version managers: the program is named."""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from halo.doctor import Case, Weight, examine_program
from halo.errors import Unsuitable
from halo.process.scripts import call_of_script
from halo.process.target import find_target, locate_target
from halo.settings import read_settings
from support.command import halo
from support.doctor import the

# As pyenv, rbenv and others write them.
SHIM = """#!/usr/bin/env bash
set -e
program="${{0##*/}}"
export {manager}_ROOT="{root}"
exec "{root}/libexec/tool" exec "$program" "$@"
"""
ASDF = """#!/usr/bin/env bash
# asdf-plugin: python 3.11.4
# asdf-plugin: python 3.12.1
exec asdf exec "python3" "$@" # asdf_allow: ' asdf '
"""


@dataclass
class Home:
    """A folder with programs; `environment` finds `first` before `second` in PATH."""

    folder: Path
    program: Path
    environment: dict[str, str] = field(default_factory=dict)

    def script(self, text: str, name: str = "python3") -> Path:
        path = self.folder / "first" / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def native(self, place: str) -> Path:
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.program, path)
        return path

    def starts(self, name: str = "python3") -> Path | None:
        call = call_of_script(self.folder / "first" / name, self.environment)
        return Path(call.command[0]) if call.starts else None


@pytest.fixture
def home(tmp_path: Path, plain: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    for name in ("first", "second", "work"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "work")
    path = f"{tmp_path}/first:{tmp_path}/second:/usr/bin:/bin"
    return Home(tmp_path, plain, {"PATH": path, "HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("manager", "file"), [("PYENV", ".python-version"), ("RBENV", ".ruby-version")]
)
def test_a_shim_names_the_program_of_the_chosen_version(
    home: Home, manager: str, file: str
) -> None:
    root = home.folder / "tool"
    home.script(SHIM.format(manager=manager, root=root))
    old, new, newer = (
        home.native(f"tool/versions/{v}/bin/python3") for v in ("3.9.2", "3.11.7", "3.11.12")
    )
    system = home.native("second/python3")
    assert home.starts() == system, "no version is chosen"
    (root / "version").write_text("3.9.2\n")
    assert home.starts() == old
    (home.folder / file).write_text("# of this folder\n3.11\n")
    assert home.starts() == newer, "the newest release of it"
    home.environment[f"{manager}_VERSION"] = "3.11.7"
    assert home.starts() == new
    home.environment[f"{manager}_VERSION"] = "2.0:system"
    assert home.starts() == system
    home.environment[f"{manager}_VERSION"] = "2.0"
    assert home.starts() is None


def test_a_shim_of_asdf_names_the_program_of_the_chosen_version(home: Home) -> None:
    home.script(ASDF)
    old, new = (home.native(f".asdf/installs/python/{v}/bin/python3") for v in ("3.11.4", "3.12.1"))
    (home.folder / ".tool-versions").write_text("ruby 3.3\npython 3.12.1 # here\n")
    assert home.starts() == new
    home.environment["ASDF_PYTHON_VERSION"] = "3.11.4"
    assert home.starts() == old


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('#!/bin/sh\nexec {0}/opt/tool/bin/app --flag "$@"\n', "opt/tool/bin/app"),
        ('#!/bin/sh\nexport A=1\nexec -a name "{0}/opt/tool/bin/app" "$@"\n', "opt/tool/bin/app"),
        ('#!/bin/bash\n# exec /bin/true\n[ -n "$X" ] && exec app "$@"\n', "second/app"),
        ('#!/bin/bash\n"$(dirname "$0")/../second/app" "$@"\n', "second/app"),
        ('#!/bin/sh\nexec {0}/first/inner "$@"\n', "opt/tool/bin/app"),
        ("#!/bin/sh\nif a; then exec {0}/opt/tool/bin/app; else exec {0}/second/app; fi\n", None),
        ("#!/usr/bin/python3\nexec = 1\n", None),
    ],
)
def test_a_script_names_what_it_starts(home: Home, text: str, wanted: str | None) -> None:
    home.native("opt/tool/bin/app")
    home.native("second/app")
    home.script(f"#!/bin/sh\nexec {home.folder}/opt/tool/bin/app\n", "inner")
    home.script(text.format(home.folder), "app")
    assert home.starts("app") == (home.folder / wanted if wanted else None)


def test_a_script_of_another_language_behind_a_shim(home: Home) -> None:
    root = home.folder / "tool"
    shim = home.script(SHIM.format(manager="PYENV", root=root), "black")
    entry = home.native("tool/versions/3.9/bin/black")
    entry.write_text("#!/opt/tool/bin/python3.9 -s\n")
    (root / "version").write_text("3.9")
    call = call_of_script(shim, home.environment)
    assert list(call.command) == ["/opt/tool/bin/python3.9", "-s", str(entry)]


def test_a_program_of_the_name_elsewhere_is_not_meant(home: Home) -> None:
    """Only behind the script in PATH."""
    script = home.folder / "work" / "app"
    script.write_text('#!/bin/sh\n"$HERE/app.bin" "$@"\n')
    script.chmod(0o755)
    home.native("second/app")
    assert not call_of_script(script, home.environment).starts


def test_scripts_that_start_each_other_end(home: Home) -> None:
    home.script(f"#!/bin/sh\nexec {home.folder}/first/two\n", "one")
    home.script(f"#!/bin/sh\nexec {home.folder}/first/one\n", "two")
    assert home.starts("one") is None


def test_an_interpreter_behind_a_shim_is_named(home: Home) -> None:
    root = home.folder / "tool"
    home.script(SHIM.format(manager="PYENV", root=root))
    python = home.native("tool/versions/3.9/bin/python3")
    (root / "version").write_text("3.9")
    script = home.script("#!/usr/bin/env python3\n", "tool.py")
    assert list(call_of_script(script, home.environment).command) == [str(python), str(script)]


def test_all_commands_name_it(home: Home, tmp_path: Path) -> None:
    """Doctor with the arguments; nothing is executed."""
    root = home.folder / "tool"
    mark = tmp_path / "executed"
    home.script(SHIM.format(manager="PYENV", root=root).replace("set -e", f"touch {mark}"))
    python = home.native("tool/versions/3.9/bin/python3")
    (root / "version").write_text("3.9")
    settings = replace(read_settings(), environment=home.environment)
    case = Case(locate_target("python3", home.environment), ("-c", "a b"))
    found = the(list(examine_program(settings, case)), "script")
    assert found.weight is Weight.REFUSAL
    assert f"(-- {python} -c 'a b')" in found.way_out
    with pytest.raises(Unsuitable, match="is a script that starts another program") as error:
        find_target("python3", home.environment)
    assert f"-- {python}" in str(error.value)
    outcome = halo("record", "--", "python3", cwd=tmp_path, env=home.environment)
    assert outcome.status == 113 and f"-- {shlex.quote(str(python))}" in outcome.stderr
    assert not mark.exists() and sorted(os.listdir(tmp_path / "work")) == []
