"""A small process that starts the measured ones: `python3 -I -S spawner.py [CPU]`.

It is separate from halo because Linux includes the parent's memory in the peak memory of a child.
It imports only small modules, which keeps that minimum at about 9 MB. If its input ends during a
run, it ends the run's processes.
"""

import _signal  # type: ignore[import-not-found]  # `signal` would import half of the library
import marshal
import posix
import select
import sys
import time

HUP, INT, KILL, PIPE, TERM, CONT, XFSZ = 1, 2, 9, 13, 15, 18, 25
# A terminal or a service manager signals the whole process group; halo decides for all of it.
IGNORED = (HUP, INT, TERM)
READ, WRITE = posix.O_RDONLY, posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC
PERIOD = 1  # milliseconds between checks of a child without pidfd
GRACE = 2.0  # seconds that a program has to end after SIGTERM


class Stopped(Exception):
    """No process waits for the run any more."""


def run(
    defaults: list[int],
    program: str,
    arguments: list[str],
    environment: dict[str, str],
    paths: tuple[str, str, str],
    mark: str,
) -> tuple[int, int, int, float, float, int, int, int, int]:
    """Runs one process to its end.

    Returns pid, status, wall nanoseconds, CPU seconds, peak kilobytes, page faults without disk
    reads, and the two numbers of `main_thread`. The process leads a session of its own, by which
    its descendants are found and ended. With `mark`, which is a variable of its environment, its
    pid is written at its start, and all processes that have the mark end with it.
    """
    stdin, stdout, stderr = paths
    actions = (
        (posix.POSIX_SPAWN_OPEN, 0, stdin, READ, 0),
        (posix.POSIX_SPAWN_OPEN, 1, stdout, WRITE, 0o600),
        (posix.POSIX_SPAWN_OPEN, 2, stderr, WRITE, 0o600),
    )
    start = time.perf_counter_ns()
    child = posix.posix_spawn(
        program, arguments, environment, file_actions=actions, setsigdef=defaults, setsid=True
    )
    if mark:
        answer(child)
    await_end(child, mark)
    wall = time.perf_counter_ns() - start
    main = main_thread(child)
    if mark:
        stop(child, mark)
    _, status, usage = posix.wait4(child, 0)
    processor = (usage.ru_utime, usage.ru_stime)
    return child, status, wall, *processor, usage.ru_maxrss, usage.ru_minflt, *main


def main_thread(child: int) -> tuple[int, int]:
    """Nanoseconds that the main thread of an ended child ran, and was ready but did not run.

    Zeros if the kernel does not say.
    """
    try:
        with open(f"/proc/{child}/schedstat", "rb") as stream:
            ran, delayed = stream.read().split()[:2]
        return int(ran), int(delayed)
    except (OSError, ValueError):
        return 0, 0


def await_end(child: int, mark: str) -> None:
    """Returns when the child has ended; raises `Stopped` if our input ends first."""
    poll = select.poll()
    poll.register(0, select.POLLIN)
    try:
        ended = posix.pidfd_open(child)
    except OSError:  # a kernel or a sandbox without pidfd
        while not has_ended(child):
            if poll.poll(PERIOD):
                give_up(child, mark)
        return
    try:
        poll.register(ended, select.POLLIN)
        if all(descriptor == 0 for descriptor, _ in poll.poll()):
            give_up(child, mark)
    finally:
        posix.close(ended)


def has_ended(child: int) -> bool:
    return bool(posix.waitid(posix.P_PID, child, posix.WEXITED | posix.WNOWAIT | posix.WNOHANG))


def give_up(child: int, mark: str) -> None:
    """Ends the run, as no process waits for its result."""
    stop(child, mark)
    posix.waitpid(child, posix.WNOHANG)
    raise Stopped


def stop(child: int, mark: str) -> None:
    """Ends the child's session, all its descendants and all processes with the mark.

    By SIGKILL after the grace period.
    """
    start = time.monotonic()
    living = members(child, set(), mark)
    for number in (TERM, CONT):
        send(number, living)
    while living and time.monotonic() < start + GRACE:
        time.sleep(0.01)
        living = members(child, living, mark)
    while living and time.monotonic() < start + 2 * GRACE:  # unkillable ones are not ours
        send(KILL, living)
        time.sleep(0.01)
        living = members(child, living, mark)


def send(number: int, processes: set[int]) -> None:
    for process in processes:
        try:
            posix.kill(process, number)
        except OSError:
            continue  # it has ended by itself


def members(child: int, before: set[int], mark: str) -> set[int]:
    """The living processes of the child's session, of `before`, and all their descendants.

    With `mark`, also the processes that have it in their environment, such as a daemon.
    """
    parents: dict[int, int] = {}
    found = set()
    for name in posix.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as stream:
                # The program's name is in parentheses, and may hold any character.
                fields = stream.read().rpartition(b")")[2].split()
        except OSError:
            continue
        state, parent, session = fields[0], int(fields[1]), int(fields[3])
        if state in b"ZX":
            continue
        parents[int(name)] = parent
        if session == child or int(name) in before or (mark and has_mark(name, mark)):
            found.add(int(name))
    while more := {it for it, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def has_mark(pid: str, mark: str) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as stream:
            return mark.encode() in stream.read().split(b"\0")
    except OSError:
        return False  # of another user, or ended


def answer(value: "int | str | tuple[float, ...]") -> None:
    marshal.dump(value, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def main() -> None:
    # Python ignores SIGPIPE and SIGXFSZ, and the measured program must not.
    defaults = [INT, PIPE, XFSZ]
    for number in IGNORED:
        if number != INT and _signal.getsignal(number) != _signal.SIG_IGN:
            defaults.append(number)
        _signal.signal(number, _signal.SIG_IGN)
    if len(sys.argv) > 1:
        posix.sched_setaffinity(0, {int(sys.argv[1])})
    while True:
        try:
            request = marshal.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer(run(defaults, *request))
        except Stopped:
            return
        except OSError as error:
            answer(str(error))


if __name__ == "__main__":
    main()
