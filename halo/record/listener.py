"""Runs a helper process that listens at a socket while the recorded program runs."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from halo.base.errors import HaloError


@contextmanager
def listening(
    command: Sequence[str],
    environment: Mapping[str, str],
    failure: type[HaloError] = HaloError,
) -> Iterator[None]:
    """A context in which the helper listens; on exit it has processed all its input.

    The user's LD_PRELOAD applies to the program, not to the helper. Raises `failure` with the
    helper's stderr if it fails.
    """
    name = Path(command[0]).name
    with subprocess.Popen(
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A signal from the terminal that ends the program must not end the recording.
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
