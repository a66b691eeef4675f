"""How well `halo run` says what is left of each stage.

progress_accuracy.py -- COMMAND...   runs `halo run` or the like on a terminal

For each stage: its seconds, what its first line said, and of all later lines that show what is left
after a tenth of the stage, the part that is within a factor of 1.5 of the truth, and the worst
factor. Lines with less than 2 s left are not judged, as seconds are whole. The exit status is 1 if
the median factor of a stage is above 1.5.
"""

from __future__ import annotations

import os
import pty
import re
import sys
import time
from dataclasses import dataclass, field
from statistics import median

STAGE = re.compile(
    r"halo: [^:\r\n]+: (\[\d+/\d+\] )?([^\r\n(]+) \((\d+) s in(?:, about (\d+) (s|min))?\)"
)
LEFT = re.compile(r"run \d+ of \d+: [^\r\n]*?, about (\d+) (s|min) left")
FACTOR, LEAST = 1.5, 2.0


@dataclass
class Stage:
    """Monotonic seconds of its begin, what was expected, and what was left at which moment."""

    name: str
    begin: float
    expected: float
    left: list[tuple[float, float]] = field(default_factory=list)


def seconds(number: str | None, unit: str | None) -> float:
    return float(number or 0) * (60 if unit == "min" else 1)


def run(command: list[str]) -> tuple[list[Stage], float]:
    """The stages of the command, and the moment of its end."""
    stages: list[Stage] = []
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(command[0], command)
    rest = ""
    while True:
        try:
            text = os.read(terminal, 4096).decode(errors="replace")
        except OSError:
            break
        now = time.monotonic()
        *lines, rest = re.split(r"[\r\n]", rest + text)
        for line in [*lines, rest]:
            if found := STAGE.search(line):
                if line != rest:
                    stages.append(Stage(found[2], now, seconds(found[4], found[5])))
            elif (found := LEFT.search(line)) and stages:
                stages[-1].left.append((now, seconds(found[1], found[2])))
    os.waitpid(child, 0)
    return stages, time.monotonic()


def factor(said: float, truth: float) -> float:
    return max(said, truth) / max(min(said, truth), 1e-9)


def main() -> int:
    stages, end = run(sys.argv[sys.argv.index("--") + 1 :])
    print("| Stage | seconds | said first | within 1.5 | median factor | worst |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    missed = False
    for at, stage in enumerate(stages):
        until = stages[at + 1].begin if at + 1 < len(stages) else end
        taken = until - stage.begin
        judged = [
            factor(said, until - now)
            for now, said in stage.left
            if now - stage.begin >= taken / 10 and until - now >= LEAST
        ]
        cells = ["-", "-", "-"]
        if judged:
            good = sum(one <= FACTOR for one in judged) / len(judged)
            cells = [f"{good:.0%}", f"{median(judged):.2f}", f"{max(judged):.2f}"]
            missed |= median(judged) > FACTOR
        print(f"| {stage.name} | {taken:.1f} | {stage.expected:.0f} | {' | '.join(cells)} |")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
