"""`halo layout` and `halo run` on four programs of Debian whose objects hints do not suit.

captured_verdicts.py layout FOLDER [NAME...]   writes the missing FOLDER/NAME.layout.json
captured_verdicts.py run FOLDER [NAME...]      writes the missing FOLDER/NAME.json and NAME.txt
captured_verdicts.py table FOLDER [NAME...]    a row for each program

The programs are those of Miucin's thesis, or Debian's nearest ones (section 3.5). `run` selects on
a training input, and measures on a larger one. A ratio is the time of the best baseline
allocator over that of what is kept. `table` ends with status 1 if the interval of one is below
0.98.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from traced_programs import CHESS, write_books, write_inputs

from halo.layouts.verdict import judge
from halo.schema.layout import LayoutDocument
from halo.trials.candidates import USUAL
from halo.trials.deep.choice import VARIANTS

MIN_RATIO = 0.98
BOOKS = {"train": 2000, "ref": 16000}
"""Of the catalogues that xalan transforms and xz compresses."""
PATH = "/usr/bin:/usr/games"
CANDIDATES = ",".join(it.label for it in VARIANTS if it in USUAL or it.has_hints)


@dataclass(frozen=True)
class Unsuited:
    """Arguments, or texts for the standard input, of the replay, of training and of reference."""

    package: str
    replayed: tuple[str, ...]
    train: tuple[str, ...]
    ref: tuple[str, ...]
    stdin: tuple[str, str, str] = ("", "", "")


STYLE = ("-xsl", "report.xsl", "-in")
COMPRESS = ("--stdout", "--keep", "--threads=1")
PROGRAMS = {
    "kcstashtest": Unsuited(
        "kyotocabinet-utils",
        ("order", "-rnd", "12000"),
        ("order", "-rnd", "100000"),
        ("order", "-rnd", "600000"),
    ),
    "sjeng": Unsuited("sjeng", (), (), (), (CHESS, "perft 5\nquit\n", "perft 6\nquit\n")),
    "xalan": Unsuited(
        "xalan",
        (*STYLE, "books.xml"),
        (*STYLE, "train.xml"),
        (*STYLE, "ref.xml"),
    ),
    "xz": Unsuited(
        "xz-utils",
        (*COMPRESS, "books.xml"),
        (*COMPRESS, "train.xml"),
        (*COMPRESS, "ref.xml"),
    ),
}


def halo(*arguments: str, folder: Path, stdin: str = "") -> str:
    """The messages of a halo command that runs in a folder; a failed one ends this program."""
    command = [sys.executable, "-m", "halo", *arguments]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "HOME": str(folder)},
        input=stdin,
        errors="replace",
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):  # 1: no order helps
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stderr


def find(name: str, program: Unsuited) -> str:
    path = shutil.which(name, path=PATH)
    if path is None:
        sys.exit(f"{name} is missing; to install it: apt-get install {program.package}")
    return path


def replay(name: str, program: Unsuited, file: Path, folder: Path) -> None:
    result = folder / "result.json"
    options = ("--quick", "--json", str(result), "--", find(name, program), *program.replayed)
    said = halo("layout", *options, folder=folder, stdin=program.stdin[0])
    if not result.is_file():
        sys.exit(f"halo layout failed on {name}:\n{said}")
    file.write_bytes(result.read_bytes())


def run(name: str, program: Unsuited, file: Path, folder: Path) -> None:
    path = find(name, program)
    for kind, books in BOOKS.items():
        write_books(folder / f"{kind}.xml", books)
    for kind, text in zip(BOOKS, program.stdin[1:], strict=True):
        (folder / f"{kind}.txt").write_text(text)
    result = folder / "summary.json"
    # Times and seeds are in the output of two of the programs.
    options = ("--candidates", CANDIDATES, "--ignore-output", "--json", str(result))
    places = ("--results", "results", "--train-stdin", "train.txt", "--stdin", "ref.txt")
    said = halo(
        *("run", *options, *places, "--", path, *program.train, "--", path, *program.ref),
        folder=folder,
    )
    file.with_suffix(".txt").write_text(said)
    file.write_bytes(result.read_bytes())


def why_none(said: str) -> str:
    """Why no hints were raced, a sentence of the messages of `halo run`; empty if some were."""
    found = re.search(r"No call site.*?\.(?= |$)", " ".join(said.split()))
    return found[0] if found else ""


def table(folder: Path, names: Sequence[str]) -> bool:
    met = True
    print("| Program | best order | hints | kept | ratio |\n| --- | --- | --- | --- | ---: |")
    for name in names:
        layout = (folder / f"{name}.layout.json").read_bytes()
        verdict = judge(msgspec.json.decode(layout, type=LayoutDocument).replayed)
        summary = json.loads((folder / f"{name}.json").read_text())
        low, high = summary["speedup_interval"]
        reason = why_none((folder / f"{name}.txt").read_text())
        kept = f"{summary['candidate']} over {summary['allocator']}"
        print(
            f"| {name} | {verdict.sentence} | {reason or 'raced'} | {kept} |"
            f" {summary['speedup']:.3f} ({low:.3f}-{high:.3f}) |"
        )
        met &= low >= MIN_RATIO
    return met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("layout", "run", "table"))
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args()
    names = given.names or list(PROGRAMS)
    if given.what == "table":
        return 0 if table(given.folder, names) else 1
    given.folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        suffix, step = (".layout.json", replay) if given.what == "layout" else (".json", run)
        file = given.folder.absolute() / f"{name}{suffix}"
        if not file.is_file():
            with tempfile.TemporaryDirectory(prefix="halo-verdicts-") as scratch:
                write_inputs(Path(scratch))
                step(name, PROGRAMS[name], file, Path(scratch))
            print(f"{file.name} written", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
