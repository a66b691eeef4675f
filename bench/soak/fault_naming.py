"""Traces the programs of bench/soak/faults and reads the first findings of the trace tools."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.shared.traced_build import build, wrappers
from halo.base.settings import Settings

FAULTY = Path(__file__).parent / "faults"


@dataclass(frozen=True)
class Fault:
    """A program, its small input, and the expected first finding of a tool.

    `fields` are all of a class that are hot, or the one field to name; `text` is on its line, in
    `file`. If the program is a variant of another one, that is `variant_of`.
    """

    name: str
    repaired: str
    min_gain: float
    tool: str
    arguments: tuple[str, ...]
    owner: str
    fields: tuple[str, ...]
    file: str
    text: str
    sharing: str = ""  # true or false, by `halo study trace sharing`
    variant_of: str = ""


@dataclass(frozen=True)
class Named:
    """The tool's first finding, and the expected one."""

    name: str
    tool: str
    named: str
    wanted: str
    suggestion: str

    @property
    def met(self) -> bool:
        return self.named == self.wanted and self.suggestion != ""


def halo(settings: Settings, *arguments: str | Path) -> None:
    command = [sys.executable, "-m", "halo", *map(str, arguments)]
    done = subprocess.run(command, env=settings.environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"halo {' '.join(map(str, arguments))} failed: {done.stderr.strip()}")


def ask(settings: Settings, fault: Fault, scratch: Path) -> Named:
    folder = FAULTY
    variant = folder / fault.name if fault.variant_of else None
    program = build(
        settings, wrappers(settings), folder / (fault.variant_of or fault.name), variant
    )
    trace, columns, answer = scratch / "trace", scratch / "columns", scratch / "answer.json"
    environment = {**settings.environment, "HALO_TRACE": f"file:{trace}"}
    command = [str(program), *fault.arguments]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    halo(settings, "study", "trace", "convert", "-o", columns, trace)
    halo(settings, "study", "trace", fault.tool, columns, "--json", answer)
    found = json.loads(answer.read_text())
    return Named(
        name=fault.name,
        tool=fault.tool,
        named=first_class(found) if fault.tool == "split" else first_variable(found),
        wanted=wanted_of(folder, fault),
        suggestion="" if not found["findings"] else str(found["findings"][0]),
    )


def wanted_of(folder: Path, fault: Fault) -> str:
    lines = (folder / fault.file).read_text().splitlines()
    number = next(at for at, line in enumerate(lines, 1) if fault.text in line)
    return as_named(fault.owner, fault.fields, fault.file, number, fault.sharing)


def first_variable(found: Mapping[str, Any]) -> str:
    """The first row of `halo study trace offenders` or `halo study trace sharing`."""
    if not found["rows"]:
        return "nothing"
    row = dict(zip(found["columns"], found["rows"][0], strict=True))
    owner, _, field = row["variable"].rpartition(".")
    return as_named(owner, (field,), row["file"], row["line"], row.get("sharing", ""))


def first_class(found: Mapping[str, Any]) -> str:
    """The first class of `halo study trace split`, if it is to be split, with the hot fields."""
    split = [entry for entry in found["classes"][:1] if entry["split"]]
    if not split:
        return "nothing"
    rows = [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]
    name = split[0]["class"]
    hot = tuple(row["field"] for row in rows if (row["class"], row["part"]) == (name, "hot"))
    return as_named(name, hot, split[0]["file"], split[0]["line"])


def as_named(owner: str, fields: tuple[str, ...], file: str, line: int, sharing: str = "") -> str:
    what = f"{owner}.{{{', '.join(fields)}}} at {Path(file).name}:{line}"
    return f"{what}, {sharing} sharing" if sharing else what
