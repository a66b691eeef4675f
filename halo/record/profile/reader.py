"""Reads a profile or a recorder's part, plain or gzip-compressed, and checks all of it."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halo.base.errors import BadProfile
from halo.base.files.kinds import PROFILE, refuse_other
from halo.record.profile.checks import Checks
from halo.record.profile.collection import without_collection
from halo.record.profile.model import (
    FORMAT,
    VERSION,
    Context,
    Frame,
    Parameters,
    Profile,
    Recorder,
    Totals,
)
from halo.record.profile.sections.registry import SECTIONS

_GZIP_MAGIC = b"\x1f\x8b"
_COUNTS = tuple(field.name for field in fields(Context) if field.name != "sizes")
_INTEGERS = {int}
_MAX_SECONDS = 1e12  # of a recording


def read_profile(path: str | Path) -> Profile:
    """The profile at `path`.

    Raises `BadProfile`, with one sentence, if it cannot be read, is empty, cut short or damaged,
    is another kind of file, has a newer version, or is inconsistent.
    """
    with without_collection():
        return parse_profile(_load(Path(path)), str(path))


def _load(path: Path) -> dict[str, Any]:
    refuse_other(path, BadProfile, PROFILE)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadProfile(f"{path} cannot be read: {error.strerror or error}.") from error
    if not raw:
        raise BadProfile(f"{path} is empty: the recording left nothing behind.")
    if raw.startswith(_GZIP_MAGIC):
        try:
            raw = gzip.decompress(raw)
        except EOFError as error:
            raise BadProfile(f"{path} is cut short; record it again.") from error
        except (OSError, zlib.error) as error:
            raise BadProfile(f"{path} is damaged; record it again.") from error
    try:
        text = raw.decode("utf-8")
        document = json.loads(text)
    except UnicodeDecodeError as error:
        raise BadProfile(f"{path} is not a profile: it is not JSON.") from error
    except json.JSONDecodeError as error:
        if text.lstrip().startswith("{") and f'"{FORMAT}"' in text[:4096]:
            raise BadProfile(f"{path} is cut short or damaged; record it again.") from error
        raise BadProfile(f"{path} is not a profile: it is not JSON.") from error
    except (RecursionError, ValueError) as error:
        raise BadProfile(f"{path} is not a profile: its JSON cannot be parsed.") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadProfile(f"{path} is not a profile: its format is not {FORMAT}.")
    return document


def parse_profile(document: dict[str, Any], name: str) -> Profile:
    """Checks a parsed profile and freezes it; error messages call it `name`."""
    return _Parser(document, name).profile()


class _Parser(Checks):
    """Parses untrusted JSON into a `Profile`."""

    def profile(self) -> Profile:
        version = self.count(self.document, "version")
        if version > VERSION:
            raise BadProfile(
                f"{self.name} has profile version {version}, this halo reads up to {VERSION}; "
                "use the newer halo."
            )
        modules = self.modules()
        frames = self.rows("frames", 3)
        nodes = self.rows("nodes", 2)
        contexts = tuple(self.context(at, raw) for at, raw in enumerate(self.list("contexts")))
        edges = self.rows("edges", 3)
        self.check_frames(frames, len(modules))
        self.check_nodes(nodes, len(frames))
        for context in contexts:
            if not context.node < len(nodes):
                self.bad("a context's node is out of range")
        self.check_edges(edges, len(contexts))
        program = self.document.get("program") or {}
        if not isinstance(program, dict) or not isinstance(program.get("args", []), list):
            self.bad("program is not an object with path and args")
        if "\0" in str(program.get("path", "")):
            self.bad("the program's path has a null character")
        return Profile(
            producer=str(self.document.get("producer", "")),
            parameters=self.parameters(),
            modules=modules,
            frames=tuple(map(Frame._make, frames.tolist())),
            nodes=tuple(map(tuple, nodes.tolist())),
            contexts=contexts,
            edges=tuple(map(tuple, edges.tolist())),
            totals=self.totals(),
            recorder=self.recorder(),
            program=str(program.get("path", "")),
            args=tuple(map(str, program.get("args", []))),
            sections={
                section.key: section.read(self, len(contexts), len(frames))
                for section in SECTIONS
                if section.key in self.document
            },
        )

    def context(self, at: int, raw: Any) -> Context:
        if not isinstance(raw, dict):
            self.bad(f"context {at} is not an object")
        counts = self.counts_of(raw)
        sizes = raw.get("sizes")
        if not isinstance(sizes, list):
            self.bad(f"the sizes of context {at} are not a list")
        for pair in sizes:
            if (
                not isinstance(pair, list)
                or len(pair) != 2
                or not all(type(value) is int and value >= 0 for value in pair)
            ):
                self.bad(f"the sizes of context {at} are not pairs of size and count")
        if counts["alignment"] not in (0, 16, 32, 64):
            self.bad(f"the alignment of context {at} is not 0, 16, 32 or 64")
        return Context(sizes=tuple((size, n) for size, n in sizes), **counts)

    def counts_of(self, raw: dict[str, Any]) -> dict[str, int]:
        """The counts of a context; checked one by one only if one of them is bad."""
        values: list[Any] = [raw.get(key) for key in _COUNTS]
        if set(map(type, values)) == _INTEGERS and min(values) >= 0 and max(values) < 2**63:
            return dict(zip(_COUNTS, values, strict=True))
        return {key: self.count(raw, key) for key in _COUNTS}

    def parameters(self) -> Parameters:
        raw = self.object("parameters")
        return Parameters(self.count(raw, "affinity_distance"), self.count(raw, "max_object_size"))

    def totals(self) -> Totals:
        raw = self.object("totals")
        return Totals(**{key: self.count(raw, key, 0) for key in Totals.__dataclass_fields__})

    def recorder(self) -> Recorder:
        raw = self.document.get("recorder") or {}
        if not isinstance(raw, dict):
            self.bad("recorder is not an object")
        seconds = raw.get("seconds", 0)
        if type(seconds) not in (int, float) or not 0 <= seconds < _MAX_SECONDS:
            self.bad("the recorder's seconds are not a number of seconds")
        memory, instructions = (
            self.count(raw, key, 0) for key in ("peak_memory_bytes", "instructions")
        )
        return Recorder(float(seconds), memory, instructions)

    def check_frames(self, frames: NDArray[np.int64], modules: int) -> None:
        module, offset, distance = frames.T
        if ((module < -1) | (module >= modules)).any():
            self.bad("a frame's module is out of range")
        if (offset < 0).any() and (offset[module >= 0] < 0).any():
            self.bad("a frame's offset is negative")
        if (distance < -1).any():
            self.bad("a frame's distance is less than -1")

    def check_nodes(self, nodes: NDArray[np.int64], frames: int) -> None:
        if len(nodes) == 0 or nodes[0].tolist() != [0, -1]:
            self.bad("node 0 is not the empty stack [0, -1]")
        parent, frame = nodes[1:].T
        if ((parent < 0) | (parent >= np.arange(1, len(nodes)))).any():
            self.bad("a node's parent does not come before it")
        if ((frame < 0) | (frame >= frames)).any():
            self.bad("a node's frame is out of range")

    def check_edges(self, edges: NDArray[np.int64], contexts: int) -> None:
        low, high, weight = edges.T
        if ((low < 0) | (low > high) | (high >= contexts)).any():
            self.bad("an edge's contexts are out of range or out of order")
        if (weight < 0).any():
            self.bad("an edge's weight is negative")
