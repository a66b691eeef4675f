"""Writes a dataset: events in their order, then sites, then the metadata of the trace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from halo.base.errors import BadInput
from halo.studies.tracing.analyses.schema import TABLES, VERSION
from halo.studies.tracing.blocks import Column, Document, Rows
from halo.studies.tracing.part_files import PartFiles, make_folder, write_file
from halo.studies.tracing.sites import SiteRows

EVENTS = ("accesses", "calls", "allocations", "frees")
# User addresses have 47 bits: the bits above identify the process.
PROCESS_SHIFT = 48
WORTH_SAYING = 0.1  # share of the accesses


class FolderWriter:
    """Writes traces of one build, one after the other, to one dataset."""

    def __init__(self, folder: Path, writer: ThreadPoolExecutor) -> None:
        self.folder = folder
        make_folder(folder)
        self._parts = {table: PartFiles(folder, table, writer) for table in EVENTS}
        self._sites = SiteRows(folder)
        self._abouts: list[dict[str, Any]] = []
        self._ends: list[dict[str, Any]] = []
        self._machine: dict[str, Any] = {}
        self._names: list[str] = []
        # Numbers used by earlier traces.
        self._offsets = {"seq": 0, "thread": 0, "site": 0, "object": 0, "address": 0}
        self._next = dict(self._offsets)
        self.accesses = 0
        self._by_site = np.zeros(0, np.int64)

    def begin(self, name: str) -> None:
        """Begins the next trace."""
        self._offsets = {**self._next, "address": len(self._names) << PROCESS_SHIFT}
        self._offsets["site"] = self._sites.begin_trace()
        self._names.append(name)

    def take(self, block: Document | Rows) -> None:
        """Adds the next block of the trace."""
        if isinstance(block, Rows):
            self._take_rows(block)
        elif block.kind == "about":
            self._take_about(block.content)
        elif block.kind == "machine":
            self._machine = block.content
        elif block.kind == "module":
            self._sites.add(block.content)
        else:
            self._ends.append(block.content)

    def _take_about(self, about: dict[str, Any]) -> None:
        if self._abouts and about.get("build_id") != self._abouts[0].get("build_id"):
            raise BadInput(
                f"{self._names[-1]} is a trace of another build than {self._names[0]}; convert"
                " each into a folder of its own."
            )
        self._abouts.append(about)

    def _take_rows(self, rows: Rows) -> None:
        self._sites.flush_new()  # a file of sites precedes those of the events that refer to them
        columns = dict(rows.columns)
        if len(self._names) > 1:
            columns = {name: self._moved(name, values) for name, values in columns.items()}
        for name in ("seq", "thread", "object"):
            if name in columns:
                first_free = int(columns[name].max()) + (name == "thread")
                self._next[name] = max(self._next[name], first_free)
        if rows.table == "accesses":
            self.accesses += rows.count
            counts = np.bincount(columns["site"], minlength=len(self._by_site))
            counts[: len(self._by_site)] += self._by_site
            self._by_site = counts
        self._parts[rows.table].add(columns, rows.count)

    def _moved(self, name: str, values: Column) -> Column:
        """The column, offset by the earlier traces; 0 of `object` and `site` stays 0: none."""
        offset = self._offsets.get(name, 0)
        if name in ("object", "site"):
            return np.where(values == 0, 0, values + offset).astype(values.dtype)
        return (values + offset).astype(values.dtype) if offset else values

    def flush(self) -> None:
        """Queues all rows so far for writing."""
        self._sites.flush_new()
        for table in EVENTS:
            self._parts[table].flush()

    def finish(self) -> Iterator[str]:
        """Writes the remaining rows, the `trace` table last; yields remarks as sentences."""
        self._sites.finish()
        for table in EVENTS:
            self._parts[table].finish()
        make_folder(self.folder / "trace")
        row = pa.Table.from_pylist([self._trace_row()], TABLES["trace"])
        write_file(row, self.folder / "trace" / "part-00001.parquet")
        return self._sentences()

    def _trace_row(self) -> dict[str, Any]:
        about = self._abouts[0] if self._abouts else {}
        ending = next((end for end in self._ends if end["ending"] != "complete"), None)
        worst = ending or {"ending": "complete", "detail": ""}
        return {
            "program": about.get("program", ""),
            "arguments": json.dumps(about.get("args", [])),
            "build_id": about.get("build_id", ""),
            "producer": about.get("producer", ""),
            "version": VERSION,
            "pid": about.get("pid", 0),
            "events": self._next["seq"],
            "lost": sum(end["lost"] for end in self._ends),
            "ending": worst["ending"],
            "detail": worst["detail"],
            "machine": json.dumps(self._machine["machine"]) if self._machine else "",
            "levels": self._machine.get("levels", 0),
        }

    def _sentences(self) -> Iterator[str]:
        for name, end in zip(self._names, self._ends, strict=False):
            if end["ending"] == "cut-short":
                yield f"{name} is cut short and was converted up to there: {end['detail']}"
            elif end["detail"]:
                yield f"{name}: {end['detail']}"
            if end["lost"]:
                yield f"{name}: {end['lost']} events were lost while it was written."
        if not self.accesses:
            yield "There are no accesses: nothing is instrumented, or the filters let nothing pass."
            return
        lineless, nameless = self._sites.shares_without(self._by_site)
        if lineless >= WORTH_SAYING:
            yield (
                f"Debug information is missing: {lineless:.0%} of the accesses have no line in the"
                f" source and {nameless:.0%} no variable; compile with -g."
            )
