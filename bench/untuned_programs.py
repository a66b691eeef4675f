"""Programs that the recorder was not tuned for, with the input of each."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

BENCH = Path(__file__).resolve().parent
DISPLAY_SECONDS = 20
UNPRIVILEGED = 65534  # the user and the group of the kernel's overflow id
CLOSED_BY_TIMEOUT = 5  # zenity's status

# std::regex, as its templates take cc1plus seconds.
CXX_SOURCE = """
#include <iostream>
#include <map>
#include <regex>
#include <string>
int main(int count, char** words) {
  const std::regex wanted(count > 1 ? words[1] : "a(b|c)*");
  std::map<std::string, int> found;
  for (std::string line; std::getline(std::cin, line);)
    if (std::smatch match; std::regex_search(line, match, wanted)) ++found[match[0]];
  for (const auto& [text, times] : found) std::cout << text << ' ' << times << '\\n';
}
"""

# One statement a line, as postgres --single expects. It leaves the database as it was.
SQL = """create table item(id int primary key, value int, note text);
insert into item select i, i * 7919 % 65537, 'note ' || i % 97 from generate_series(1, 5000) i;
select count(*), sum(value), max(note) from item;
select note, count(*) from item where value % 3 = 0 group by note order by 2 desc, 1 limit 20;
select a.id, b.id from item a join item b on a.value = b.id order by 1 limit 20;
select 1 / 0;
drop table item;
"""


class Missing(Exception):
    """A program is not installed; the text names its Debian package."""


@dataclass(frozen=True)
class Work:
    """A command line to be run in an empty folder, its standard input and expected exit status.

    `prefix` precedes the program, or the recorder of the program.
    """

    command: tuple[str, ...]
    stdin: Path = Path(os.devnull)
    environment: Mapping[str, str] = field(default_factory=dict)
    prefix: tuple[str, ...] = ()
    status: int = 0


@dataclass(frozen=True)
class Program:
    """`prepare` makes the inputs in a folder, and ends what it started for the runs."""

    name: str
    prepare: Callable[[Path], AbstractContextManager[Work]]


def find_executable(name: str, package: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise Missing(f"{name} is missing: install the package {package}")
    return found


@contextmanager
def cc1plus(folder: Path) -> Iterator[Work]:
    compiler = find_executable("g++", "g++")
    source, preprocessed = folder / "words.cc", folder / "words.ii"
    source.write_text(CXX_SOURCE)
    options = ("-std=c++17", "-E", str(source), "-o", str(preprocessed))
    subprocess.run([compiler, *options], check=True)
    question = [compiler, "-print-prog-name=cc1plus"]
    asked = subprocess.run(question, stdout=subprocess.PIPE, text=True, check=True)
    program = find_executable(asked.stdout.strip(), "g++")
    compiled = ("-std=c++17", "-fpreprocessed", "-O2", "-quiet", str(preprocessed))
    yield Work((program, *compiled, "-o", "words.s"))


@contextmanager
def git(_: Path) -> Iterator[Work]:
    configuration = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
    }
    program = find_executable("git", "git")
    history = ("-C", str(BENCH.parent), "log", "-p", "--max-count=200")
    yield Work((program, *history), environment=configuration)


@contextmanager
def sqlite3(_: Path) -> Iterator[Work]:
    script = f".read {BENCH / 'soak' / 'sqlite3' / 'relations.sql'}"
    program = find_executable("sqlite3", "sqlite3")
    yield Work((program, "relations.db", "-cmd", ".parameter set @rows 4000", script))


@contextmanager
def node(_: Path) -> Iterator[Work]:
    program = find_executable("node", "nodejs")
    yield Work((program, str(BENCH / "soak" / "node" / "tour.js"), "1"))


@contextmanager
def ruby(_: Path) -> Iterator[Work]:
    program = find_executable("ruby", "ruby")
    yield Work((program, "--disable-gems", str(BENCH / "soak" / "ruby" / "tour.rb"), "1"))


@contextmanager
def zenity(folder: Path) -> Iterator[Work]:
    """A calendar that closes after a second and prints its date."""
    program = find_executable("zenity", "zenity")
    server = find_executable("Xvfb", "xvfb")
    with (folder / "display").open("w+") as number:
        options = ["-displayfd", str(number.fileno()), "-screen", "0", "800x600x24"]
        display = subprocess.Popen(
            [server, *options], pass_fds=[number.fileno()], stderr=subprocess.DEVNULL
        )
        try:
            where = {"DISPLAY": f":{_display_number(folder / 'display')}"}
            date = ("--day=1", "--month=2", "--year=2020", "--date-format=%F")
            command = (program, "--calendar", *date, "--timeout=1")
            yield Work(command, environment=where, status=CLOSED_BY_TIMEOUT)
        finally:
            display.terminate()
            display.wait()


def _display_number(path: Path) -> str:
    deadline = time.monotonic() + DISPLAY_SECONDS
    while time.monotonic() < deadline:
        if (written := path.read_text()).endswith("\n"):
            return written.strip()
        time.sleep(0.05)
    sys.exit(f"Xvfb did not start within {DISPLAY_SECONDS} s")


@contextmanager
def postgres(folder: Path) -> Iterator[Work]:
    """A server without clients, which reads SQL. It refuses to run as root."""
    paths = [*Path("/usr/lib/postgresql").glob("*/bin"), *map(Path, os.get_exec_path())]
    programs = [path / "postgres" for path in paths if (path / "postgres").exists()]
    if not programs:
        raise Missing("postgres is missing: install the package postgresql")
    program = max(programs, key=lambda path: [int(n) for n in re.findall(r"\d+", str(path))])
    prefix = _unprivileged(folder)
    data = folder / "data"
    create = [str(program.with_name("initdb")), "-D", str(data), "--auth=trust", "--no-sync"]
    created = subprocess.run([*prefix, *create, "--locale=C.UTF-8"], capture_output=True, text=True)
    if created.returncode:
        sys.exit(f"initdb failed: {created.stderr.strip()}")
    statements = folder / "statements.sql"
    statements.write_text(SQL)
    # Messages have no time and no process id, so that those of two runs are the same.
    settings = ("-c", "log_line_prefix=", "-c", "log_checkpoints=off")
    command = (str(program), "--single", "-D", str(data), *settings, "postgres")
    yield Work(command, statements, prefix=prefix)


def _unprivileged(folder: Path) -> tuple[str, ...]:
    """For root: a user that may read this checkout and write to the folders of the runs."""
    if os.geteuid() != 0:
        return ()
    os.chown(folder, UNPRIVILEGED, UNPRIVILEGED)
    may = "+dac_override"
    user = (f"--reuid={UNPRIVILEGED}", f"--regid={UNPRIVILEGED}", "--clear-groups")
    return ("setpriv", *user, f"--inh-caps={may}", f"--ambient-caps={may}")


PROGRAMS = (
    Program("cc1plus", cc1plus),
    Program("git", git),
    Program("sqlite3", sqlite3),
    Program("node", node),
    Program("ruby", ruby),
    Program("zenity", zenity),
    Program("postgres", postgres),
)
