"""Standard output as the destination of one document, which the name `-` stands for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from halo.base.errors import BadInput

STANDARD_OUTPUT = Path("-")
_STDOUT, _STDERR = 1, 2
_reserved: list[int] = []  # the descriptor of the former standard output


@contextmanager
def reserve_standard_output() -> Iterator[None]:
    """Within it only the document named `-` goes to standard output.

    Descriptor 1 is then standard error, also for programs that are run, so that tables and the
    output of programs do not mix with the document. Raises `BadInput` if standard output is closed.
    """
    if sys.stdout is None:  # Python's sign that it was closed
        raise BadInput("- cannot be written: standard output is closed.")
    sys.stdout.flush()
    descriptor = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    _reserved.append(descriptor)
    try:
        yield
    finally:
        _reserved.remove(descriptor)
        try:
            sys.stdout.flush()
        finally:
            os.dup2(descriptor, _STDOUT)
            os.close(descriptor)


def write_standard_output(content: bytes) -> None:
    """Writes the document. Raises `BrokenPipeError` if the reader is gone, else `BadInput`."""
    try:
        with os.fdopen(os.dup(_reserved[-1] if _reserved else _STDOUT), "wb") as stream:
            stream.write(content)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise BadInput(f"- cannot be written: {error.strerror or error}.") from error
