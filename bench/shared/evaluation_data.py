"""The raw results behind docs/evaluation: one Parquet file an experiment, one row a document.

evaluation_data.py pack FOLDER FILE      writes FILE, of all JSON documents below FOLDER
evaluation_data.py unpack FILE FOLDER    writes the documents below FOLDER, each as NAME.json

`name` is the document's path below the folder, without its ending; `document` is its JSON.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

LEVEL = 19  # of Zstandard: the files are written seldom, and kept in the repository


def pack(folder: Path, file: Path) -> None:
    paths = sorted(folder.rglob("*.json"))
    if not paths:
        sys.exit(f"evaluation_data: {folder} has no JSON documents")
    table = pa.table(
        {
            "name": [str(path.relative_to(folder).with_suffix("")) for path in paths],
            "document": [path.read_text() for path in paths],
        }
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, file, compression="zstd", compression_level=LEVEL)


def unpack(file: Path, folder: Path) -> list[Path]:
    """Writes the documents, which replace earlier ones of their names; returns their paths."""
    paths = []
    for row in pq.read_table(file).to_pylist():
        path = folder / f"{row['name']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(row["document"])
        paths.append(path)
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("pack", "unpack"))
    parser.add_argument("source", type=Path, metavar="FROM")
    parser.add_argument("target", type=Path, metavar="TO")
    given = parser.parse_args()
    if given.what == "pack":
        pack(given.source, given.target)
    else:
        unpack(given.source, given.target)


if __name__ == "__main__":
    main()
