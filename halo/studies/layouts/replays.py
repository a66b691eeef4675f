"""Runs `halo-layout`, which replays an object trace under every order and packing."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from halo.base.errors import MissingPart
from halo.base.files.atomic import move_file
from halo.base.settings import Settings
from halo.binary.process.native_tool import output_for_trace
from halo.studies.layouts.document import Replayed

GRAPH_FORMATS = (".graphml", ".dot", ".metis")


@dataclass(frozen=True)
class ReplayOptions:
    """`window` is the number of accesses before an access with which it pairs. `machine` is the
    recorder's form of a machine file; empty: this machine. The access graph is written to `graph`,
    in the format of its ending, one of GRAPH_FORMATS, the hierarchical layout to `order`
    (`src/studies/layouts/order_file.h`), and the layout file to `layout`. `packing` is the only
    one that is replayed, or empty; with keys, `recorded`, `hints-ignored` or `hinted`. Without
    `replays` nothing is simulated. `after_phase`: the accesses behind the recorded phase count, not
    those in it. `types` is a file of `object_types`, without which there is no order by type.
    `keys` is a file of `object_keys`: with it, the recorded layout and Tidy's are replayed, and
    no other. `keys_by_address` is the file instead that tidy_log.cc of bench/programs writes. Tidy
    then has buckets of `bucket` bytes (0: its default), and a fixed cell for each key with
    `fixed_cells`. `own_accesses`: Tidy's accesses to its tables are simulated, too, for a trace
    that has those of the recorded allocator. `whole_graph`: the access graph is of the whole
    run, also if the trace has a phase."""

    window: int = 1
    machine: str = ""
    graph: Path | None = None
    order: Path | None = None
    layout: Path | None = None
    replays: bool = True
    packing: str = ""
    after_phase: bool = False
    types: Path | None = None
    keys: Path | None = None
    keys_by_address: Path | None = None
    own_accesses: bool = False
    whole_graph: bool = False
    bucket: int = 0
    fixed_cells: bool = False


def check_replayer(settings: Settings) -> None:
    """Raises `MissingPart` unless halo-layout is built."""
    if not settings.replayer.is_file():
        raise MissingPart(f"halo-layout is not built ({settings.replayer}); run: make build")


def replay(
    settings: Settings,
    trace: Path,
    options: ReplayOptions,
    folder: Path,
    accept: Callable[[Replayed], None] = lambda found: None,
) -> Replayed:
    """The replays of a trace; `BadTrace` if it is missing or damaged.

    `folder` is for the machine's description, and for files until they are complete. What `accept`
    raises leaves no files.
    """
    command = [str(settings.replayer), f"--window={options.window}"]
    command.append(f"--jobs={len(os.sched_getaffinity(0))}")
    if options.machine:
        (folder / "machine").write_text(options.machine)
        command.append(f"--machine={folder / 'machine'}")
    if options.packing:
        command.append(f"--packing={options.packing}")
    if options.types:
        command.append(f"--types={options.types}")
    if options.keys:
        command.append(f"--keys={options.keys}")
    if options.keys_by_address:
        command.append(f"--keys-by-address={options.keys_by_address}")
    if options.own_accesses:
        command.append("--own-accesses")
    if options.whole_graph:
        command.append("--whole-graph")
    if options.bucket:
        command.append(f"--bucket={options.bucket}")
    if options.fixed_cells:
        command.append("--fixed-cells")
    if options.after_phase:
        command.append("--after-phase")
    if not options.replays:
        command.append("--no-replays")
    files: dict[Path, Path] = {}  # written by the tool, and where they belong
    if options.graph:
        files[folder / f"graph{options.graph.suffix}"] = options.graph
    if options.order:
        files[folder / "order"] = options.order
    if options.layout:
        files[folder / "layout"] = options.layout
    command += [f"--{written.stem}={written}" for written in files]
    found = msgspec.json.decode(output_for_trace(command, trace), type=Replayed)
    accept(found)
    for written, place in files.items():
        move_file(written, place)
    return found
