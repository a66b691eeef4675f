"""Machines and limits under which there is no watch: the program runs, and the reason is known."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.command import Outcome, halo
from support.planned import run_planned
from support.watched import Armed, Watched, run_watched, start_watched

NO_PRIVILEGE = "userfaultfd is refused: it needs CAP_SYS_PTRACE, and no filter against it"
NO_KERNEL = "the kernel has no userfaultfd that moves pages (Linux 6.8)"
NO_THREAD = "the thread of the watch cannot be started"
NO_MEMORY = "there is no memory"
IOCTL, CLONE, USERFAULTFD, CLONE3, CLOSE_RANGE = 16, 56, 323, 435, 436  # of x86-64
UFFDIO_API, UFFDIO_MOVE = 0xC018AA3F, 0xC028AA05


def without(capability: str) -> list[str]:
    """The words before a command that runs without a capability."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is missing")
    return ["setpriv", f"--bounding-set=-{capability}", f"--inh-caps=-{capability}"]


def check_served(run: Watched, reason: str) -> None:
    """The program ran under its plan, and the report has the reason."""
    assert (run.status, run.stdout) == (0, "intact\n")
    assert run.stats["spans"]["allocations"] >= 8
    assert run.report["refusal"] == reason
    assert (run.report["traps"], run.report["windows"]) == (0, 0)


def test_without_cap_sys_ptrace(armed: Armed) -> None:
    command = [*without("sys_ptrace"), str(armed.program)]
    check_served(run_watched(command, armed.plan, HALO_WATCH_STRESS="1"), NO_PRIVILEGE)


def test_without_cap_sys_admin(armed: Armed, traps: None) -> None:
    """Page frame numbers are hidden then, which the watch does not need."""
    command = [*without("sys_admin"), str(armed.program)]
    run = run_watched(command, armed.plan, HALO_WATCH_STRESS="1")
    assert (run.status, run.stdout) == (0, "intact\n")
    assert (run.report["refusal"], run.report["announced"] >= 8) == ("", True)


def unprivileged(*arguments: str) -> Outcome:
    """`halo ARGUMENTS` without the capability that traps need."""
    return halo(*arguments, before=without("sys_ptrace"))


def test_exec_says_it_once(armed: Armed) -> None:
    done = unprivileged("exec", "--watch", "--plan", str(armed.plan), "--", str(armed.program))
    assert (done.status, done.stdout) == (0, "intact\n")
    sentence = f"The program runs under its plan without a watch: {NO_PRIVILEGE}."
    assert done.stderr == f"halo: {sentence}\n"


def test_the_doctor_names_it() -> None:
    lines = unprivileged("doctor").stdout.splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("note     live watch "))
    assert "CAP_SYS_PTRACE" in lines[place] + lines[place + 1]
    assert "fix it with: run as root" in " ".join(lines[place : place + 4])


def test_the_doctor_finds_traps(traps: None) -> None:
    assert "OK       live watch " in halo("doctor").stdout


@pytest.mark.parametrize(
    ("call", "error", "second", "reason"),
    [
        (USERFAULTFD, errno.EPERM, 0, NO_PRIVILEGE),
        (USERFAULTFD, errno.ENOSYS, 0, NO_KERNEL),
        (IOCTL, errno.EINVAL, UFFDIO_API, NO_KERNEL),
        (IOCTL, errno.EPERM, UFFDIO_API, NO_PRIVILEGE),
        (CLOSE_RANGE, errno.EPERM, 0, NO_PRIVILEGE),
        (CLOSE_RANGE, errno.ENOSYS, 0, NO_KERNEL),
    ],
    ids=["EPERM", "ENOSYS", "old-api", "fork-events", "close-EPERM", "close-ENOSYS"],
)
def test_a_refused_call(
    armed: Armed,
    traps: None,
    refusing_call: Path,
    call: int,
    error: int,
    second: int,
    reason: str,
) -> None:
    """By a filter (seccomp), as kernels without the call and containers do."""
    command = [str(refusing_call), str(call), str(error), str(second), str(armed.program)]
    check_served(run_watched(command, armed.plan, HALO_WATCH_STRESS="1"), reason)


def test_pages_that_cannot_be_moved_are_not_armed(
    armed: Armed, traps: None, refusing_call: Path
) -> None:
    refused = [str(IOCTL), str(errno.EPERM), str(UFFDIO_MOVE)]
    command = [str(refusing_call), *refused, str(armed.program)]
    check_served(run_watched(command, armed.plan, HALO_WATCH_STRESS="1"), "")


def test_a_filter_against_threads(armed: Armed, refusing_call: Path) -> None:
    """clone3 is refused as unknown, so that libc tries clone, which processes need, too."""
    inner = [str(refusing_call), str(CLONE), str(errno.EAGAIN), "0", str(armed.program)]
    command = [str(refusing_call), str(CLONE3), str(errno.ENOSYS), "0", *inner]
    check_served(run_watched(command, armed.plan), NO_THREAD)


def test_a_limit_of_threads(armed: Armed) -> None:
    """RLIMIT_NPROC, which the program sets before its first large object."""
    check_served(run_watched([str(armed.program), "threads"], armed.plan), NO_THREAD)


@pytest.mark.parametrize("mebibytes", [8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 96, 256, 1200, 4096])
def test_the_ladder_of_address_space(armed: Armed, mebibytes: int) -> None:
    """Whatever runs with three quarters of the limit runs with all of it and the watch."""

    def limited(share: float) -> None:
        limit = int(mebibytes * share) << 20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    alone = run_planned([str(armed.program)], armed.plan, preexec_fn=lambda: limited(0.75))
    process = start_watched([str(armed.program)], armed.plan, before=lambda: limited(1))
    stdout, stderr = process.communicate(timeout=60)
    if alone.status == 0:
        assert (process.returncode, stdout, stderr) == (0, "intact\n", "")
    else:
        assert stdout in ("", "intact\n")


def test_address_space_that_runs_out_while_pages_are_armed(armed: Armed, traps: None) -> None:
    """A limit that the program sets itself: spans are refused and counted, then ENOMEM."""
    command: Sequence[str] = [str(armed.program), "memory", "3"]
    run = run_watched(command, armed.plan, HALO_WATCH_STRESS="1")
    assert (run.status, run.stdout) == (0, "intact\n")
    assert run.stats["spans"]["refused"] > 0
    assert run.report["refusal"] == ""
