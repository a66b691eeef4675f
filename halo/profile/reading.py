"""Reads a profile or a recorder's part, plain or gzip-compressed, and checks all of it."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from halo.errors import BadProfile
from halo.profile.model import (
    FORMAT,
    VERSION,
    Context,
    Frame,
    Module,
    Parameters,
    Profile,
    Recorder,
    Sampling,
    Totals,
)
from halo.profile.reading_simulation import SimulationReader
from halo.profile.simulation import Simulation
from halo.profile.streams import COUNTS, SET_COUNTS, CoAllocationSet, HotStreams

_GZIP_MAGIC = b"\x1f\x8b"
_COUNTS = tuple(field.name for field in fields(Context) if field.name != "sizes")


def read_profile(path: str | Path) -> Profile:
    """The profile at `path`.

    Raises `BadProfile`, with one sentence, if it cannot be read, is empty, cut short or damaged,
    is another kind of file, has a newer version, or contradicts itself.
    """
    return parse_profile(_load(Path(path)), str(path))


def _load(path: Path) -> dict[str, Any]:
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
    """Checks a parsed profile and freezes it; `name` is what error sentences call it."""
    return _Parser(document, name).profile()


class _Parser:
    """Turns untrusted JSON into a `Profile`; every complaint names the file and the key."""

    def __init__(self, document: dict[str, Any], name: str) -> None:
        self.document = document
        self.name = name

    def bad(self, what: str) -> NoReturn:
        raise BadProfile(f"{self.name} is not a usable profile: {what}.")

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
            hot_streams=self.hot_streams(len(frames)),
            simulation=self.simulation(len(contexts), len(frames)),
            sampling=self.sampling(),
            loaded=self.modules("loaded") if "loaded" in self.document else (),
        )

    def list(self, key: str) -> list[Any]:
        value = self.document.get(key)
        if not isinstance(value, list):
            self.bad(f"{key} is missing or not a list")
        return value

    def object(self, key: str) -> dict[str, Any]:
        value = self.document.get(key)
        if not isinstance(value, dict):
            self.bad(f"{key} is missing or not an object")
        return value

    def count(self, holder: dict[str, Any], key: str, default: int | None = None) -> int:
        value = holder.get(key, default)
        if type(value) is not int or not 0 <= value < 2**63:
            self.bad(f"{key} is missing or not a count")
        return value

    def rows(self, key: str, width: int) -> NDArray[np.int64]:
        """A list of equally long lists of integers as an array of shape (rows, width)."""
        raw = self.list(key)
        if not raw:
            return np.zeros((0, width), dtype=np.int64)
        try:
            table = np.array(raw)
        except (ValueError, OverflowError):
            table = np.array(None)
        if table.dtype != np.int64 or table.shape != (len(raw), width):
            self.bad(f"{key} is not a list of {width} integers each")
        return table

    def modules(self, key: str = "modules") -> tuple[Module, ...]:
        found = []
        for raw in self.list(key):
            path = raw.get("path") if isinstance(raw, dict) else None
            build_id = raw.get("build_id", "") if isinstance(raw, dict) else None
            if not isinstance(path, str) or not isinstance(build_id, str):
                self.bad("a module has no path or build_id")
            if len(build_id) % 2 or len(build_id) > 64 or set(build_id) - set("0123456789abcdef"):
                self.bad(f"the build-id of {path} is not up to 32 bytes of lower-case hex")
            found.append(Module(path, build_id))
        return tuple(found)

    def context(self, at: int, raw: Any) -> Context:
        if not isinstance(raw, dict):
            self.bad(f"context {at} is not an object")
        counts = {key: self.count(raw, key) for key in _COUNTS}
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
        if type(seconds) not in (int, float):
            self.bad("the recorder's seconds are not a number")
        memory, instructions = (
            self.count(raw, key, 0) for key in ("peak_memory_bytes", "instructions")
        )
        return Recorder(float(seconds), memory, instructions)

    def sampling(self) -> Sampling | None:
        if "sampling" not in self.document:
            return None
        raw = self.object("sampling")
        error = raw.get("edge_error")
        if not isinstance(error, int | float) or not 0 <= error <= 1:
            self.bad("the edge_error of sampling is missing or not a share")
        return Sampling(self.count(raw, "bursts"), float(error))

    def hot_streams(self, frames: int) -> HotStreams | None:
        if "hot_streams" not in self.document:
            return None
        raw = self.object("hot_streams")
        sets = raw.get("sets")
        if not isinstance(sets, list):
            self.bad("the sets of hot_streams are not a list")
        return HotStreams(
            **{key: self.count(raw, key) for key in COUNTS},
            sets=tuple(self.co_allocation_set(item, frames) for item in sets),
        )

    def simulation(self, contexts: int, frames: int) -> Simulation | None:
        if "simulation" not in self.document:
            return None
        raw = self.object("simulation")
        return SimulationReader(raw, contexts, frames, self.bad).simulation()

    def co_allocation_set(self, raw: Any, frames: int) -> CoAllocationSet:
        sites = raw.get("sites") if isinstance(raw, dict) else None
        if not isinstance(sites, list) or not sites:
            self.bad("a set of hot_streams has no list of sites")
        if not all(type(site) is int and 0 <= site < frames for site in sites):
            self.bad("a site of hot_streams is out of range")
        if len(set(sites)) < len(sites):
            self.bad("a set of hot_streams has a site twice")
        return CoAllocationSet(tuple(sites), **{key: self.count(raw, key) for key in SET_COUNTS})

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
