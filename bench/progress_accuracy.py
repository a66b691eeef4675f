"""How well `halo run` says what is left of each stage.

progress_accuracy.py -- COMMAND...   runs `halo run` or the like on a terminal

For each stage: its seconds, what its first line said, and how far the later lines are from the
truth. Those after a tenth of the stage count: the length of the whole stage that they say (at a
tenth, and the worst), and what they say is left (by the median, and the worst). Lines with less
than 2 s left are not judged, as seconds are whole. A stage without such lines is judged by its
first one. The exit status is 1 if a length is wrong by a factor above 1.5.
"""

from __future__ import annotations

import os
import pty
import re
import sys
import termios
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

STAGE = re.compile(
    r"halo: [^:\r\n]+: (\[\d+/\d+\] )?([^\r\n(]+) \((\d+) s in(?:, about (\d+) (s|min))?\)"
)
LEFT = re.compile(r"run \d+ of \d+: [^\r\n]*?, about (\d+) (s|min) left")
FACTOR, LEAST = 1.5, 2.0
COLUMNS = 200  # each stage on one line


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
    """The stages of the command, and the moment of its end; exits if there are none."""
    stages: list[Stage] = []
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(command[0], command)
    termios.tcsetwinsize(terminal, (24, COLUMNS))
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
    _, status = os.waitpid(child, 0)
    end = time.monotonic()
    if not stages:
        code = os.waitstatus_to_exitcode(status)
        sys.exit(f"{command[0]} had no stages, and ended with status {code}.")
    return stages, end


@dataclass(frozen=True)
class Judged:
    """A stage's seconds, what its first line said, and by how much its lines are wrong.

    `lengths` and `lefts` are factors of at least 1 of the lines after the first tenth of the stage.
    """

    name: str
    seconds: float
    expected: float
    lengths: tuple[float, ...]
    lefts: tuple[float, ...]


def judge_stages(stages: Sequence[Stage], end: float) -> list[Judged]:
    ends = [*(stage.begin for stage in stages[1:]), end]
    return [judge(stage, until) for stage, until in zip(stages, ends, strict=True)]


def judge(stage: Stage, end: float) -> Judged:
    seconds = end - stage.begin
    counted = [
        (now - stage.begin, said)
        for now, said in stage.left
        if now - stage.begin >= seconds / 10 and end - now >= LEAST
    ]
    lengths = tuple(factor(taken + said, seconds) for taken, said in counted)
    lefts = tuple(factor(said, seconds - taken) for taken, said in counted)
    if not lengths and stage.expected and seconds >= LEAST:
        lengths = (factor(stage.expected, seconds),)
    return Judged(stage.name, seconds, stage.expected, lengths, lefts)


def factor(said: float, truth: float) -> float:
    return max(said, truth) / max(min(said, truth), 1e-9)


def main() -> int:
    stages, end = run(sys.argv[sys.argv.index("--") + 1 :])
    print("| Stage | seconds | said first | length at a tenth | worst | left, median | worst |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    missed = False
    for stage in judge_stages(stages, end):
        figures = [stage.seconds, stage.expected]
        if stage.lengths:
            figures += [stage.lengths[0], max(stage.lengths)]
            missed |= max(stage.lengths) > FACTOR
        if stage.lefts:
            figures += [median(stage.lefts), max(stage.lefts)]
        print(f"| {stage.name} | {' | '.join(f'{figure:.2f}' for figure in figures)} |")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
