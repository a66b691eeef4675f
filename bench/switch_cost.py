"""What it costs to give a live object page frames of other colours (NightWatch, section 3.2).

switch_cost.py [--rounds N]

A chunk of 1, 4 and 8 MiB gets frames of other colours in each round, while another thread reads all
of it and checks each word. The time is that of the switch with frames available, as the kernel of
the paper has them in lists by colour; the search for them is a column of its own. The first round
is dropped. The exit status is 1 if a median is above 1.0 ms a MiB, or a word was wrong.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys

from halo.base.settings import read_settings

MAX_MS = 1.0  # of a MiB; the paper has 1.8
MIN_ROUNDS = 11
SIZES = (1, 4, 8)  # MiB


def quartiles(values: list[float]) -> str:
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=21)
    rounds = parser.parse_args().rounds
    if rounds < MIN_ROUNDS:
        parser.error(f"--rounds is at least {MIN_ROUNDS}")
    program = read_settings().build / "bench" / "switch-cost"
    missed = False
    print("ms a MiB: median (quartiles)")
    for size in SIZES:
        command = [str(program), str(size), str(rounds + 1)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode > 1:
            sys.exit(f"switch_cost: {done.stderr.strip()}")
        columns = zip(*json.loads(done.stdout)["rounds"][1:], strict=True)
        switch, processor, search = ([ms / size for ms in column] for column in columns)
        intact = done.returncode == 0
        missed |= not intact or statistics.median(switch) > MAX_MS
        print(
            f"{size} MiB: switch {quartiles(switch)}, its processor time {quartiles(processor)},"
            f" search for frames {quartiles(search)};"
            f" {'intact' if intact else 'DAMAGED, or not all pages switched'}"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
