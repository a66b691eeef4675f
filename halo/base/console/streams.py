"""The standard streams, made fit for whatever the shell closed and whatever the locale encodes."""

from __future__ import annotations

import codecs
import io
import os
import sys
from contextlib import suppress

PLAIN = "halo-plain"  # the name of our handler of characters that an encoding lacks
# What halo itself prints, in characters that every encoding has.
_SPELLED = {
    **{"±": "+-", "×": "x", "≈": "~", "≤": "<=", "…": "...", "−": "-", "–": "-"},
    **{"←": "<-", "→": "->", "ı": "i", "ó": "o", "◆": "*", "○": "o"},
}


def prepare_streams(encoding: str = "utf-8") -> None:
    """A closed standard error takes text and drops it; both streams take any name.

    Characters of halo's own that the encoding lacks are spelled with others. All other ones are of
    names, and are printed as the bytes that the name has. Programs that halo becomes or starts have
    the same streams as before: Python opens files as close-on-exec.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    codecs.register_error(PLAIN, _spell)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with suppress(OSError):  # a pipe has no position, which a stream looks for at its end
                stream.reconfigure(encoding=encoding, errors=PLAIN)


def _spell(error: UnicodeError) -> tuple[bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return b"".join(map(_bytes, error.object[error.start : error.end])), error.end


def _bytes(character: str) -> bytes:
    try:
        return _SPELLED.get(character, character).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that stands for no byte of a name
        return b"?"
