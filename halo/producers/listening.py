"""A process of ours that listens at a socket while the recorded program runs."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from halo.errors import HaloError


@contextmanager
def listening(
    command: Sequence[str],
    environment: Mapping[str, str],
    failure: type[HaloError] = HaloError,
) -> Iterator[None]:
    """Ready when this begins, and done with all that it was told when it ends.

    What the user preloads is for the program, not for it.

    Raises `failure`, with what it said on its standard error, where it fails.
    """
    name = Path(command[0]).name
    with subprocess.Popen(
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # What ends the program from the terminal must not end the recording.
        start_new_session=True,
        env={key: value for key, value in environment.items() if key != "LD_PRELOAD"},
    ) as listener:
        assert listener.stdin is not None and listener.stdout is not None
        assert listener.stderr is not None
        if listener.stdout.readline() != b"ready\n":
            listener.kill()
            said = listener.stderr.read().decode(errors="replace").strip()
            raise failure(f"{name} cannot listen: {said}.")
        yield
        listener.stdin.close()
        said = " ".join(listener.stderr.read().decode(errors="replace").split())
        if listener.wait() != 0:
            raise failure(f"{name} failed: {said.rstrip('.') or 'it was ended by a signal'}.")
