"""Recognises halo's own files by their beginning, to name a file that is of the wrong kind."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

from halo.base.errors import HaloError

_BEGINNING = 4096  # bytes; the format is among the first keys of a document
_GZIP_MAGIC = b"\x1f\x8b"
_FORMAT = re.compile(rb'"format":\s*"(halo-[a-z-]+)"')

PROFILE, PLAN, TRACE, OBJECTS, RESULTS = (
    *("profile", "plan", "trace", "object trace", "results file"),
)
STREAM, REVIEW = "stream of requests", "plan in its form for review"
_MAGICS = {
    b"HALOPLAN": PLAN,  # src/plan/format.h
    b"HALOTRC\n": TRACE,  # src/tracing/format/frames.h
    b"halo-obj": OBJECTS,  # src/recorder/objects/format.h
    b"halo-req": STREAM,  # src/studies/pollution/corun/stream_format.h
}
_FORMATS = {
    "halo-profile": PROFILE,
    "halo-plan": REVIEW,
    "halo-results": RESULTS,
}
_MAKERS = {
    PROFILE: "profiles are recorded by: halo record",
    PLAN: "plans are made from profiles by: halo plan",
    TRACE: "traces are written by programs of halo-cc under: halo study trace run",
    OBJECTS: "object traces are written by: halo study layout -o, halo record --objects",
    RESULTS: "results are measured by: halo run",
}


def kind_of(path: Path) -> str:
    """The kind of a file of halo's; empty for any other file, and one that cannot be read."""
    try:
        with path.open("rb") as file:
            beginning = file.read(_BEGINNING)
    except OSError:
        return ""
    if beginning.startswith(_GZIP_MAGIC):
        try:
            beginning = zlib.decompressobj(wbits=31).decompress(beginning, _BEGINNING)
        except zlib.error:
            return ""
    for magic, kind in _MAGICS.items():
        if beginning.startswith(magic):
            return kind
    found = _FORMAT.search(beginning) if beginning.lstrip().startswith(b"{") else None
    if found is None:
        return ""
    name = found[1].decode()
    return _FORMATS.get(name, f"{name.removeprefix('halo-')} document")


def refuse_other(path: Path, error: type[HaloError], *wanted: str) -> None:
    """Raises `error` if the file is of another of halo's kinds than those wanted."""
    if not path.is_file():
        return  # what was piped cannot be read twice
    kind = kind_of(path)
    if not kind or kind in wanted:
        return
    need = " or ".join(_with_article(name) for name in wanted)
    remedy = _MAKERS[wanted[0]]
    if kind == REVIEW and wanted[0] == PLAN:
        remedy = f"give the plan itself: {str(path).removesuffix('.json')}"
    raise error(f"{path} is a halo {kind}, not {need}; {remedy}")


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
