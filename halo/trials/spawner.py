"""A small process that starts the measured ones, by itself: `python3 -I -S spawner.py [CPU]`.

It is apart from halo because Linux counts the memory of the starting process into the peak memory
of the started one. It imports only what is built in, and so keeps that floor at about 8 MB.
"""

import _signal  # type: ignore[import-not-found]  # `signal` would import half of the library
import marshal
import posix
import sys
import time

# SIGINT, SIGPIPE, SIGXFSZ: this process or Python ignores them, the measured one must not.
DEFAULT_SIGNALS = (2, 13, 25)
READ, WRITE = posix.O_RDONLY, posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC


def run(
    program: str, arguments: list[str], environment: dict[str, str], paths: tuple[str, str, str]
) -> tuple[int, int, int, float, float, int]:
    """Runs one process to its end: pid, status, wall nanoseconds, CPU seconds, peak kilobytes."""
    stdin, stdout, stderr = paths
    actions = (
        (posix.POSIX_SPAWN_OPEN, 0, stdin, READ, 0),
        (posix.POSIX_SPAWN_OPEN, 1, stdout, WRITE, 0o600),
        (posix.POSIX_SPAWN_OPEN, 2, stderr, WRITE, 0o600),
    )
    start = time.perf_counter_ns()
    child = posix.posix_spawn(
        program, arguments, environment, file_actions=actions, setsigdef=DEFAULT_SIGNALS
    )
    _, status, usage = posix.wait4(child, 0)
    wall = time.perf_counter_ns() - start
    return child, status, wall, usage.ru_utime, usage.ru_stime, usage.ru_maxrss


def main() -> None:
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
    if len(sys.argv) > 1:
        posix.sched_setaffinity(0, {int(sys.argv[1])})
    while True:
        try:
            request = marshal.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            marshal.dump(run(*request), sys.stdout.buffer)
        except OSError as error:
            marshal.dump(str(error), sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
