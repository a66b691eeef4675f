"""Compares how well seven predictors recognise a training run's allocations in a reference run.

coverage.py [NAME...]   default: the seven bundled programs

Each program is recorded on both inputs (Yardımcı and Kaeli, section 3.1). Prints the share of the
reference run's states that the training run had, by predictor. Ends with status 1 if call stack and
size cover less than nine tenths on more than one program.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from evidence import halo

from halo.base.settings import Settings, read_settings
from halo.measure.bundled import find_bundled, prepare

PROGRAMS = ("hospital", "scene", "rbtree", "mesh", "pagerank", "mst", "server")
MIN_COVERAGE = 0.9
MAX_BELOW = 1  # programs
CHOSEN = "call stack + size"


def coverage_of(settings: Settings, name: str, folder: Path) -> dict[str, float]:
    """Coverage, 0 to 1, by predictor."""
    bundled = find_bundled(settings, name)
    profiles = []
    for at, job in enumerate(prepare(settings, bundled)):
        profiles.append(str(folder / f"{name}-{at}.profile"))
        command = (str(job.target.path), *job.arguments)
        halo("record", "-o", profiles[-1], "--", *command, env=dict(bundled.env))
    result = folder / f"{name}.json"
    halo("eval", "coverage", *profiles, "--json", str(result), env={})
    rows = json.loads(result.read_text())["predictors"]
    return {row["predictor"]: row["coverage"] for row in rows}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args()
    settings = read_settings()
    below = 0
    with tempfile.TemporaryDirectory(prefix="halo-coverage-") as folder:
        for at, name in enumerate(given.names or PROGRAMS):
            found = coverage_of(settings, name, Path(folder))
            if at == 0:
                print(f"| program | {' | '.join(found)} |")
                print(f"| --- |{' ---: |' * len(found)}")
            print(f"| {name} | {' | '.join(f'{it:.3f}' for it in found.values())} |", flush=True)
            below += found[CHOSEN] < MIN_COVERAGE
    return 0 if below <= MAX_BELOW else 1


if __name__ == "__main__":
    sys.exit(main())
