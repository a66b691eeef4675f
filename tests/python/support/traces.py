"""Traces for tests: made from a text (`halo-write-trace`), or by real programs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

from support.command import BUILD, REPOSITORY

WORKLOADS = REPOSITORY / "bench" / "programs"
WRITER = BUILD / "bin" / "halo-write-trace"
COMPILERS = {".c": "halo-cc", ".cc": "halo-c++"}
# Sites of it, from 16: load and store of a field, allocation, entry, exit, copy's destination.
PROGRAM = """\
about {"format":"halo-trace","version":1,"producer":"llvm","pid":77,\
"program":"/x/prog","args":["a"],"build_id":"BUILD"}
string variable node.next
string integer int
string node node
string next next
string value value
string pointer node *
type T node 16
field T next pointer 0 8
field T value integer 8 4
site 1 8 10 variable pointer T 0
site 2 4 11 variable integer T 8
site 8 0 12 - node - 0
site 6 0 1 - - - 0
site 7 0 1 - - - 0
site 5 0 13 - node - 0
module /x/prog BUILD
maps [[4096,8192,4096,"/x/prog","BUILD"]]
"""
LOAD, STORE, ALLOCATION, ENTER, EXIT, WRITE_RANGE = range(16, 22)
EPOCH, ALLOC, ALLOC_FROM, FRAME, FREE, REVIVE, COUNT, THREAD_END, LOST = range(1, 10)


def write_trace(
    path: Path, events: str, end: str = "end 1 0 0 0", build: str = "ab12", pid: int = 77
) -> Path:
    """A trace of these lines behind the program's; `end` empty: cut short."""
    program = PROGRAM.replace("BUILD", build).replace('"pid":77', f'"pid":{pid}')
    text = f"{program}{events}\n{end}\n"
    subprocess.run([str(WRITER), str(path)], input=text, text=True, check=True)
    return path


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    """A table's rows, ordered by their first column."""
    read = ds.dataset(folder / table, format="parquet").to_table()
    found: list[dict[str, Any]] = read.sort_by(read.column_names[0]).to_pylist()
    return found


def instrumented(name: str, folder: Path, *flags: str) -> Path:
    """A bundled workload, built by our compilers with these flags."""
    sources = sorted((WORKLOADS / name).glob("*.c*"))
    output = folder / name
    objects = []
    for source in [*sources, WORKLOADS / "common" / "args.c"]:
        language = ["-std=c++20"] if source.suffix == ".cc" else []
        objects.append(folder / f"{name}-{source.stem}.o")
        _compile(source.suffix, *language, "-O2", *flags, "-c", str(source), "-o", str(objects[-1]))
    linker = sources[0].suffix
    _compile(linker, *map(str, objects), "-o", str(output), "-lm", "-pthread")
    return output


def _compile(suffix: str, *arguments: str) -> None:
    compiler = REPOSITORY / "bin" / COMPILERS[suffix]
    command = [str(compiler), f"-I{WORKLOADS}", *arguments]
    subprocess.run(command, check=True, capture_output=True)


def trace_of(program: Path, trace: Path, *arguments: str) -> Path:
    """The trace that a run of the program leaves."""
    environment = {**os.environ, "HALO_TRACE": f"file:{trace}"}
    subprocess.run([str(program), *arguments], env=environment, check=True, capture_output=True)
    return trace
