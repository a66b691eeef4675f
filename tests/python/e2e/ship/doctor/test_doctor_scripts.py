"""Scripts that start another program, or stand before one in PATH: the program is named."""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from halo.base.errors import Unsuitable
from halo.base.settings import read_settings
from halo.binary.process.scripts import Found, ScriptCall, call_of_script
from halo.binary.process.target import find_target, locate_target
from halo.ship.doctor import Case, Weight, examine_program
from support.command import halo
from support.doctor import the

# As pyenv writes them; rbenv and others write the same.
SHIM = """#!/usr/bin/env bash
set -e
program="${0##*/}"
export PYENV_ROOT="/tool"
exec "/tool/libexec/pyenv" exec "$program" "$@"
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

    def call(self, name: str) -> ScriptCall:
        return call_of_script(self.folder / "first" / name, self.environment)


@pytest.fixture
def home(tmp_path: Path, plain: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    for name in ("first", "second", "work"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "work")
    path = f"{tmp_path}/first:{tmp_path}/second:/usr/bin:/bin"
    return Home(tmp_path, plain, {"PATH": path, "HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ('exec {0}/opt/tool/bin/app --flag "$@"\n', "{0}/opt/tool/bin/app --flag"),
        ('export A=1\nexec -a name "{0}/opt/tool/bin/app" \\\n "$@"\n', "{0}/opt/tool/bin/app"),
        ('# exec /bin/true $@\n[ -n "$X" ] && exec app "$@" 2>&1\n', "{0}/second/app"),
        ("case $1 in\n a) exec app $@ ;;\nesac\n", "{0}/second/app"),
        ('if a; then exec app ${{1+"$@"}} # b\nfi\n', "{0}/second/app"),
        ("exec {0}/first/inner -a $@\n", "{0}/opt/tool/bin/app -i -a"),
        ('exec {0}/missing "$@"\nexec app "$@"\n', "{0}/second/app"),
    ],
)
def test_a_script_names_what_it_starts(home: Home, text: str, command: str) -> None:
    home.native("opt/tool/bin/app")
    home.native("second/app")
    home.script(f'#!/bin/sh\nexec {home.folder}/opt/tool/bin/app -i "$@"\n', "inner")
    home.script("#!/bin/sh\n" + text.format(home.folder), "start")
    call = home.call("start")
    assert call.found is Found.STARTED
    assert shlex.join(call.command) == command.format(home.folder)


@pytest.mark.parametrize(
    "text",
    [
        'find . -name "*.dmp" -exec rm {{}} \\;\n',
        'find . -exec rm {{}} "$@" \\;\n',
        "usage() {{ exec cat $0; }}\nusage\n",
        "exec echo usage\n",
        'exec test -f "$1"\n',
        'exec unshare -m "$0" "$@"\n',
        'exec "$FOLDER/app" "$@"\n',
        'exec $FOLDER/app "$@"\nexec rm "$@"\n',
        'exec app "${{arguments[@]}}"\nexec rm "$@"\n',
        'exec app $FLAGS "$@"\n',
        'exec app "$@" --last\n',
        'cd {0}/opt && exec bin/app "$@"\n',
        'exec env A=1 app "$@"\n',
        'exec app exec rm "$@"\n',
        'if a; then exec app "$@"; else exec {0}/opt/tool/bin/app "$@"; fi\n',
        'printf "exec rm $@"\n',
        'exec app "$@\n',
    ],
)
def test_what_does_not_stand_for_a_script_is_not_named(home: Home, text: str) -> None:
    """Pasted, it would do something else with the arguments, such as remove them."""
    home.native("opt/tool/bin/app")
    home.native("second/app")
    script = home.script("#!/bin/sh\n" + text.format(home.folder), "start")
    assert home.call("start") == ScriptCall(["/bin/sh", str(script)], Found.INTERPRETER)


def test_no_command_of_find_is_advised(home: Home) -> None:
    home.script('#!/bin/bash\nfind /tmp -exec rm {} \\;\nexec "$APP" "$@"\n', "browser")
    settings = replace(read_settings(), environment=home.environment)
    case = Case(locate_target("browser", home.environment), ("page.html",))
    found = the(list(examine_program(settings, case)), "script")
    assert "rm" not in f"{found.sentence} {found.way_out}".replace("page.html", "").split()
    assert "or the program that it starts" in found.way_out


@pytest.mark.parametrize("text", [SHIM, '#!/bin/sh\n"$(dirname "$0")/../opt/app" "$@"\n'])
def test_a_shim_names_the_next_program_of_its_name(home: Home, text: str) -> None:
    home.script(text)
    assert home.call("python3").found is not Found.STARTED
    system = home.native("second/python3")
    home.environment["PYENV_VERSION"] = "/x"  # no name of a version
    assert home.call("python3") == ScriptCall([str(system)], Found.NEXT_OF_NAME)


def test_a_script_of_another_language_has_its_interpreter(home: Home) -> None:
    script = home.script("#!/opt/tool/bin/python3.9 -s\nexec = 1\n", "black")
    home.native("second/black")
    wanted = ["/opt/tool/bin/python3.9", "-s", str(script)]
    assert home.call("black") == ScriptCall(wanted, Found.INTERPRETER)
    home.script(f'#!/bin/sh\nexec {script} -q "$@"\n', "start")
    assert home.call("start") == ScriptCall([*wanted, "-q"], Found.STARTED)


def test_a_program_of_the_name_elsewhere_is_not_meant(home: Home) -> None:
    """Only behind the script in PATH."""
    script = home.folder / "work" / "app"
    script.write_text('#!/bin/sh\n"$HERE/app.bin" "$@"\n')
    script.chmod(0o755)
    home.native("second/app")
    assert call_of_script(script, home.environment).found is Found.INTERPRETER


def test_scripts_that_start_each_other_end(home: Home) -> None:
    home.script(f'#!/bin/sh\nexec {home.folder}/first/two "$@"\n', "one")
    home.script(f'#!/bin/sh\nexec {home.folder}/first/one "$@"\n', "two")
    assert home.call("one").found is Found.INTERPRETER


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('#!/bin/sh\ntouch {0}\nexec {1} "$@"\n', "is a script that starts another program"),
        ("#!/bin/sh\ntouch {0}\n", "is a script; the next program of that name in PATH is"),
    ],
)
def test_all_commands_name_it(home: Home, tmp_path: Path, text: str, words: str) -> None:
    """Doctor with the arguments; nothing is executed."""
    mark = tmp_path / "executed"
    python = home.native("second/python3")
    home.script(text.format(mark, python))
    settings = replace(read_settings(), environment=home.environment)
    case = Case(locate_target("python3", home.environment), ("-c", "a b"))
    found = the(list(examine_program(settings, case)), "script")
    assert found.weight is Weight.REFUSAL and words in found.sentence
    assert f"(-- {python} -c 'a b')" in found.way_out
    with pytest.raises(Unsuitable, match=words) as error:
        find_target("python3", home.environment)
    assert f"-- {python}" in str(error.value)
    outcome = halo("record", "--", "python3", cwd=tmp_path, env=home.environment)
    assert outcome.status == 113 and f"-- {shlex.quote(str(python))}" in outcome.stderr
    assert not mark.exists() and sorted(os.listdir(tmp_path / "work")) == []
