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

HUP, INT, KILL, PIPE, TERM, CONT, STOP, XFSZ = 1, 2, 9, 13, 15, 18, 19, 25
# A terminal or a service manager signals the whole process group; halo decides for all of it.
IGNORED = (HUP, INT, TERM)
READ, WRITE = posix.O_RDONLY, posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC
PERIOD = 1  # milliseconds between checks of a child without pidfd
PAUSE = 0.00005  # seconds between checks of a child that is to stop
STOPPING = 0.1  # seconds that a child has to stop
GRACE = 2.0  # seconds that a program has to end after SIGTERM

Start = tuple[str, list[str], dict[str, str], tuple[str, str, str]]
"""A program, its arguments, its environment, and the paths of its three standard streams."""

Usage = tuple[int, int, int, float, float, int, int, int, int]
"""Of an ended process: pid, status, wall nanoseconds, CPU seconds, peak kilobytes, page faults
without disk reads, and the two numbers of `main_thread`."""


class Stopped(Exception):
    """No process waits for the run any more."""


def run(defaults: list[int], start: Start, mark: str) -> Usage:
    """Runs one process to its end.

    The process leads a session of its own, by which its descendants are found and ended. With
    `mark`, which is a variable of its environment, its pid is written at its start, and all
    processes that have the mark end with it.
    """
    begin = time.perf_counter_ns()
    child = spawn(defaults, start)
    if mark:
        answer(child)
    await_end(child, {child}, mark)
    wall = time.perf_counter_ns() - begin
    main = main_thread(child)
    if mark:
        stop({child}, mark)
    return reap(child, wall, main)


def run_in_slices(
    defaults: list[int], starts: list[Start], slices: list[int], limit: int, mark: str
) -> "list[Usage] | int":
    """Runs processes to their ends, of which one at a time runs, for its slice in milliseconds.

    The others are stopped meanwhile. Returns the usage of each, in their order; the wall time is
    that of its slices. If one exceeds the limit, in milliseconds, ends all and returns its index.
    All have the mark in their environment.
    """
    children: dict[int, int] = {}  # by index, those that have not ended
    found: dict[int, Usage] = {}
    walls = [0] * len(starts)
    try:
        while len(found) < len(starts):
            for at in [each for each in range(len(starts)) if each not in found]:
                begin = time.perf_counter_ns()
                if at in children:
                    send_group(CONT, children[at])
                else:
                    children[at] = spawn(defaults, starts[at])
                child, left = children[at], max(0, limit - walls[at] // 1_000_000)
                is_last = len(found) + 1 == len(starts)
                period = left if is_last else min(left, slices[at])
                ended = await_end(child, set(children.values()), mark, period)
                if not ended:
                    stop_group(child)
                walls[at] += time.perf_counter_ns() - begin
                if ended:
                    found[at] = reap(child, walls[at], main_thread(child))
                    del children[at]
                elif walls[at] >= limit * 1_000_000:
                    end(set(children.values()), mark)
                    return at
    except OSError:  # one of them cannot be started
        end(set(children.values()), mark)
        raise
    return [found[at] for at in range(len(starts))]


def spawn(defaults: list[int], start: Start) -> int:
    """Starts a process, in a session of its own; returns its pid."""
    program, arguments, environment, (stdin, stdout, stderr) = start
    actions = (
        (posix.POSIX_SPAWN_OPEN, 0, stdin, READ, 0),
        (posix.POSIX_SPAWN_OPEN, 1, stdout, WRITE, 0o600),
        (posix.POSIX_SPAWN_OPEN, 2, stderr, WRITE, 0o600),
    )
    return posix.posix_spawn(
        program, arguments, environment, file_actions=actions, setsigdef=defaults, setsid=True
    )


def reap(child: int, wall: int, main: tuple[int, int]) -> Usage:
    """The usage of a child that has ended."""
    _, status, usage = posix.wait4(child, 0)
    processor = (usage.ru_utime, usage.ru_stime)
    return child, status, wall, *processor, usage.ru_maxrss, usage.ru_minflt, *main


def send_group(number: int, child: int) -> None:
    """To the process group that the child leads."""
    try:
        posix.killpg(child, number)
    except OSError:
        return  # it has just ended


def stop_group(child: int) -> None:
    """Stops the child's process group; returns when the child is stopped, or has ended.

    A child that waits for a processor stops only when it gets one. Until then the kernel counts it
    as ready, so this time must be part of its slice. A child in `vfork` does not stop in time.
    """
    send_group(STOP, child)
    last = time.monotonic() + STOPPING
    options = posix.WSTOPPED | posix.WEXITED | posix.WNOWAIT | posix.WNOHANG
    while not posix.waitid(posix.P_PID, child, options) and time.monotonic() < last:
        time.sleep(PAUSE)


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


def await_end(child: int, living: set[int], mark: str, milliseconds: "int | None" = None) -> bool:
    """Whether the child has ended, after that time if it is given.

    If our input ends first, ends all of the `living` children and raises `Stopped`.
    """
    poll = select.poll()
    poll.register(0, select.POLLIN)
    try:
        ended = posix.pidfd_open(child)
    except OSError:  # a kernel or a sandbox without pidfd
        end = None if milliseconds is None else time.monotonic() + milliseconds / 1000
        while not has_ended(child):
            if poll.poll(PERIOD):
                give_up(living, mark)
            if end is not None and time.monotonic() >= end:
                return has_ended(child)
        return True
    try:
        poll.register(ended, select.POLLIN)
        found = poll.poll(milliseconds)
        if found and all(descriptor == 0 for descriptor, _ in found):
            give_up(living, mark)
        return bool(found)
    finally:
        posix.close(ended)


def has_ended(child: int) -> bool:
    return bool(posix.waitid(posix.P_PID, child, posix.WEXITED | posix.WNOWAIT | posix.WNOHANG))


def give_up(living: set[int], mark: str) -> None:
    """Ends the runs, as no process waits for their results."""
    end(living, mark)
    raise Stopped


def end(living: set[int], mark: str) -> None:
    stop(living, mark)
    for child in living:
        posix.waitpid(child, posix.WNOHANG)


def stop(children: set[int], mark: str) -> None:
    """Ends the children's sessions, all their descendants and all processes with the mark.

    By SIGKILL after the grace period.
    """
    start = time.monotonic()
    living = members(children, set(), mark)
    for number in (TERM, CONT):
        send(number, living)
    while living and time.monotonic() < start + GRACE:
        time.sleep(0.01)
        living = members(children, living, mark)
    while living and time.monotonic() < start + 2 * GRACE:  # unkillable ones are not ours
        send(KILL, living)
        time.sleep(0.01)
        living = members(children, living, mark)


def send(number: int, processes: set[int]) -> None:
    for process in processes:
        try:
            posix.kill(process, number)
        except OSError:
            continue  # it has ended by itself


def members(children: set[int], before: set[int], mark: str) -> set[int]:
    """The living processes of the children's sessions, of `before`, and all their descendants.

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
        if session in children or int(name) in before or (mark and has_mark(name, mark)):
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


def answer(value: "int | str | Usage | list[Usage]") -> None:
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
        value: int | str | Usage | list[Usage]
        try:
            if isinstance(request, list):
                value = run_in_slices(defaults, *request)
            else:
                value = run(defaults, *request)
        except Stopped:
            return
        except OSError as error:
            value = str(error)
        try:
            answer(value)
        except BrokenPipeError:  # halo was killed; an ordinary end would flush the rest, and say so
            posix._exit(0)


if __name__ == "__main__":
    main()
