"""What `halo bench` chooses for bundled programs, several times each, and how its stages keep time.

choices.py run FOLDER [--times N] [NAME...]   measures the missing FOLDER/NAME-K, K from 1 to N
choices.py judge FOLDER                       a row for each measurement, and the two shares

Without names, the thirteen programs. A gain is the time of the best baseline allocator over that of
what is kept, on the reference input, which the race does not see: the mean of paired rounds, by the
clock that decides races, as other programs run beside. The speed-up that halo states is shown, too:
a ratio of medians of wall-clock times. A choice is wrong if it is a plan
with a gain below 0.99. It misses a gain if a plan gains 5 % or more in the measurement's own race,
and what is kept is 5 % or more slower there. Gains are those of the final, and for other plans of
the screen, less two standard errors, as the greatest of many is high. It also misses one if it has
no plan, and the plans of the program's other measurements gain 5 % or more on the reference input.
The exit status of `judge` is 1 if more than 1 % of the choices are wrong, or more than 10 % of
those with such a gain miss it, or if there are none.
"""

from __future__ import annotations

import argparse
import math
import shutil
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from statistics import median

import msgspec
from everything import PROGRAMS
from progress_accuracy import FACTOR, Judged, judge_stages, run

from halo.files.atomic import write_json
from halo.results import Measurement, read_measurement
from halo.schema.trial import Trial
from halo.trials.racing.clock import deciding_clock
from halo.trials.racing.gains import HALO
from halo.trials.racing.sequential import paired_gain

STAGES = "stages.json"
ROUNDS = 5  # of a plan's race, to count
WRONG, MISSED = 0.99, 1.05
MAX_WRONG, MAX_MISSED = 0.01, 0.10


@dataclass(frozen=True)
class Choice:
    """A measurement: what is kept, and its gain; `raced`: the best and its own one in its race."""

    name: str
    kept: str
    is_plan: bool
    is_advised: bool
    gain: float
    stated: float
    interval: tuple[float, float]
    raced: tuple[float, float]
    stages: list[Judged]

    @property
    def seconds(self) -> float:
        return sum(stage.seconds for stage in self.stages)


def measure(folder: Path, program: str, options: Sequence[str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "halo", "bench", *options, "--results", str(folder), program]
    stages, end = run(command)
    if not (folder / "results.json").exists():
        sys.exit(f"halo bench {program} failed")
    write_json([asdict(stage) for stage in judge_stages(stages, end)], folder / STAGES)


def gains(
    trials: Mapping[str, Sequence[Trial]], over: Sequence[str], less: float = 0.0
) -> dict[str, float]:
    """By label, the time of the fastest of the others over its own, in their common rounds.

    `less`: that number of standard errors is subtracted.
    """
    clock = deciding_clock(chain.from_iterable(trials.values()))
    times = {label: [clock(trial) for trial in each] for label, each in trials.items()}
    found = {}
    for label in times.keys() - set(over):
        pairs = [list(zip(times[other], times[label], strict=False)) for other in over]
        if len(pairs[0]) >= ROUNDS:
            paired = [paired_gain(*zip(*each, strict=True)) for each in pairs]
            found[label] = min(math.exp(gain.mean - less * gain.error) for gain in paired)
    return found


def raced_gains(found: Measurement) -> tuple[float, float]:
    """The greatest gain of a plan in the race, and the kept one's: of finalists in the final."""
    candidates = found.results.summary.candidates
    controls = [each.label for each in candidates if each.strategy == "none"]
    trials = found.results.trials
    known: dict[str, float] = {}
    for samples, less in ((trials.candidates_on_training, 2), (trials.finalists_on_training, 0)):
        over = [label for label in controls if label in samples]
        known |= gains(samples, over, less) if over else {}
    kept = [known[each.label] for each in candidates if each.kept and each.label in known]
    return max([1.0, *known.values()]), max([1.0, *kept])


def read_choice(folder: Path) -> Choice:
    found = read_measurement(folder)
    summary, reference = found.results.summary, found.results.trials.reference
    return Choice(
        summary.program,
        f"{summary.candidate} over {summary.allocator}",
        summary.strategy != "none",
        summary.use == HALO,
        gains(reference, [label for label in reference if label != HALO]).get(HALO, 1.0),
        summary.speedup or 1.0,
        summary.speedup_interval or (1.0, 1.0),
        raced_gains(found),
        msgspec.json.decode((folder / STAGES).read_bytes(), type=list[Judged]),
    )


def judge(folder: Path) -> int:
    choices = defaultdict(list)
    for path in sorted(folder.glob(f"*/{STAGES}")):  # of finished measurements
        choice = read_choice(path.parent)
        choices[choice.name].append(choice)
    if not choices:
        sys.exit(f"{folder} has no finished measurement")
    print("| Program | kept | gain | stated | plans | raced: best | kept | seconds | |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    wrong = missed = with_gain = corrected = 0
    for name, found in choices.items():
        for each in found:
            plans = [one.gain for one in found if one.is_plan]
            usual = median(plans) if plans else 1.0
            remark = ""
            if each.is_plan and each.gain < WRONG:
                wrong, remark = wrong + 1, "wrong"
                corrected += not each.is_advised
            best, mine = each.raced
            with_gain += max(usual, best) >= MISSED
            if best >= MISSED * max(mine, 1.0) or (not each.is_plan and usual >= MISSED):
                missed, remark = missed + 1, "missed"
            low, high = each.interval
            print(
                f"| {name} | {each.kept} | {each.gain:.3f} |"
                f" {each.stated:.3f} ({low:.3f} to {high:.3f}) |"
                f" {usual:.3f} | {best:.3f} | {mine:.3f} |"
                f" {each.seconds:.0f} | {remark} |"
            )
    total = sum(map(len, choices.values()))
    print(f"{wrong} of {total} kept a slower plan; {corrected} of these advise against it.")
    print(f"{missed} of {with_gain} missed a gain.")
    print_stages([stage for found in choices.values() for each in found for stage in each.stages])
    return int(wrong > MAX_WRONG * total or missed > MAX_MISSED * with_gain)


def print_stages(stages: list[Judged]) -> None:
    """By kind of stage: how far the lengths that its lines said are from the true one."""
    by_kind = defaultdict(list)
    for stage in stages:
        if stage.lengths:
            by_kind[stage.kind].append(stage)
    print("| Stage | measurements | at a tenth within 1.5 | worst | all lines within 1.5 | worst |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for kind, found in by_kind.items():
        cells = []
        for factors in ([each.lengths[0] for each in found], [max(each.lengths) for each in found]):
            good = sum(one <= FACTOR for one in factors)
            cells += [f"{good} of {len(found)}", f"{max(factors):.2f}"]
        print(f"| {kind} | {len(found)} | {' | '.join(cells)} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("run", "judge"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--cpu", help="processor that runs the trials, so that two can be measured")
    given = parser.parse_args()
    if given.action == "judge":
        return judge(given.folder)
    given.folder.mkdir(parents=True, exist_ok=True)
    for time in range(1, given.times + 1):
        for program in given.names or PROGRAMS:
            folder = given.folder / f"{program}-{time}"
            if not (folder / STAGES).exists():
                measure(folder, program, ["--cpu", given.cpu] if given.cpu else [])
                print(folder.name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
