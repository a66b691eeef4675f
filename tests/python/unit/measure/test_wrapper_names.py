"""Programs that are known to execute another one, by their names and arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from halo.base.errors import Unsuitable
from halo.binary.process.target import Target
from halo.measure.runs.wrappers import refuse_known_starter, refuse_known_wrapper

ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


@pytest.mark.parametrize(
    ("name", "arguments", "inner", "before"),
    [
        ("env", ["A=1", "-u", "B", "ls", "-l"], "-- ls -l", "`env A=1 -u B`"),
        ("/usr/bin/taskset", ["-c", "0", "ls"], "-- ls", "`/usr/bin/taskset -c 0`"),
        ("nice", ["-n", "5", "/bin/ls", "a b"], "-- /bin/ls 'a b'", "`nice -n 5`"),
        ("timeout", ["5", "ls"], "-- ls", ""),
        ("strace", ["-f", "ls"], "-- ls", ""),
    ],
)
def test_well_known_wrappers_are_refused_before_anything_runs(
    name: str, arguments: list[str], inner: str, before: str
) -> None:
    target = Target(Path("/usr/bin", Path(name).name), name)
    with pytest.raises(Unsuitable) as found:
        refuse_known_wrapper(target, arguments, ENVIRONMENT)
    assert inner in str(found.value)
    assert before in str(found.value)
    assert ("may stand before `halo`" in str(found.value)) == bool(before)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("env", []), ("env", ["A=1"]), ("ls", ["ls"]), ("./environment", ["ls"]), ("sh", ["ls"])],
)
def test_what_executes_nothing_else_is_not_refused(name: str, arguments: list[str]) -> None:
    refuse_known_wrapper(Target(Path("/x"), name), arguments, ENVIRONMENT)
    refuse_known_starter(Target(Path("/x"), name))


@pytest.mark.parametrize(
    "name", ["make", "gcc", "/usr/bin/x86_64-linux-gnu-g++-12", "c++", "ninja"]
)
def test_programs_that_leave_the_work_to_others_are_known(name: str) -> None:
    with pytest.raises(Unsuitable, match="leaves the work to programs that it starts"):
        refuse_known_starter(Target(Path("/usr/bin", Path(name).name), name))


def test_a_program_of_the_users_own_may_bear_any_name(tmp_path: Path) -> None:
    for name in ("gcc", "make", "env"):
        target = Target(tmp_path / name, f"./{name}")
        refuse_known_starter(target)
        refuse_known_wrapper(target, ["ls"], ENVIRONMENT)
