"""Shows what a pair of malloc and free costs under the runtime, in nanoseconds.

pairs.py forward   outside the plan, over each next allocator, against that allocator alone
pairs.py grouped   decided by the caller alone and at the fourth frame, against the allocators
pairs.py frames    what each frame of a walk costs, from plans decided at frames 1 to 8
pairs.py selectors the walk and the paper's selectors, for the same groups
pairs.py threads   two threads against one, on the grouped path

Plans have eight groups, made by recording a training run of the measured program. Trials are fresh
processes, interleaved; the first of each way is dropped. Ends with status 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from evidence import halo as run_halo

from halo.allocators import find_allocator, four_allocators, preload, under_plan
from halo.profile import read_profile
from halo.settings import Settings, read_settings
from halo.trials.statistics import Summary, summarize

MOST_FORWARDING_NS = 1.5
LEAST_THREADS_GAIN = 1.8
SITES = DEPTHS = 8
TRAINED = 200
OUTSIDE = 0
PATTERNS = ("pair", "same", "batch", "reverse")


@dataclass(frozen=True)
class Way:
    """One way to run the program: at which call sites, and in which environment."""

    label: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]


Key = tuple[str, str, int]
"""The way's label, the pattern, the size in bytes."""
Times = dict[Key, list[float]]


@dataclass(frozen=True)
class Bar:
    """A figure and what it is held to: at most, or at least, `limit`."""

    name: str
    value: float
    limit: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit


@dataclass(frozen=True)
class Options:
    trials: int
    repeats: int
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Shown:
    """What one command found: medians with quartiles, figures made of them, and bars."""

    unit: str
    rows: Mapping[Key, Summary]
    figures: Mapping[str, float]
    bars: Sequence[Bar]


class Bench:
    """The measured program and its plans, in a folder that is gone afterwards."""

    def __init__(self, settings: Settings, folder: Path, options: Options) -> None:
        self.settings = settings
        self.folder = folder
        self.options = options
        self.program = settings.build / "bench" / "pair"
        if not self.program.is_file():
            sys.exit(f"{self.program} is not built; run: make build")

    def plan(self, depth: int, apart: bool = True, identification: str = "walk") -> Path:
        """The eight contexts of that depth in a group each or, where not `apart`, in one."""
        path = self.folder / f"{depth}-{'apart' if apart else 'together'}-{identification}.plan"
        if path.exists():
            return path
        contexts = self._contexts(depth)
        groups = path.with_suffix(".groups")
        lists = [[at] for at in contexts] if apart else [contexts]
        groups.write_text(json.dumps({"groups": lists}))
        options = ("--strategy", "from-file", "--file", str(groups), "-o", str(path))
        options += ("--identification", identification)
        run_halo("plan", str(self._profile(depth)), *options, env={})
        if identification == "selectors":
            return path
        deepest = json.loads(Path(f"{path}.json").read_text())["identification"]["deepest"]
        if deepest != (depth if apart else 1):
            sys.exit(f"the plan for frame {depth} is decided at frame {deepest}")
        return path

    def _profile(self, depth: int) -> Path:
        path = self.folder / f"{depth}.profile"
        if not path.exists():
            command = (str(self.program), "train", str(depth))
            run_halo("record", "-o", str(path), "--", *command, env={})
        return path

    def _contexts(self, depth: int) -> list[int]:
        found = read_profile(self._profile(depth)).contexts
        contexts = [at for at, context in enumerate(found) if context.allocations == TRAINED]
        if len(contexts) != SITES:
            sys.exit(f"the training run has {len(contexts)} call sites instead of {SITES}")
        return contexts

    def way(self, label: str, depth: int, environment: Mapping[str, str]) -> Way:
        sizes = map(str, self.options.sizes)
        return Way(label, ("time", str(depth), str(self.options.repeats), *sizes), environment)

    def alone(self, allocator: str) -> dict[str, str]:
        return preload(self.settings.environment, [find_allocator(allocator).library])

    def planned(self, plan: Path, allocator: str = "glibc") -> dict[str, str]:
        chosen = find_allocator(allocator)
        return under_plan(self.settings.environment, self.settings.runtime, plan, chosen)

    def run(self, way: Way, environment: Mapping[str, str]) -> str:
        command = [str(self.program), *way.arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode or done.stderr:
            sys.exit(f"{way.label}: {' '.join(command)} failed: {done.stderr}")
        return done.stdout

    def grouped(self, way: Way) -> int:
        """Allocations from groups; not part of a trial, as trials run like a deployment."""
        stats = self.folder / "stats.json"
        self.run(way, {**way.environment, "HALO_STATS": str(stats)})
        groups = json.loads(stats.read_text())["groups"]
        return sum(group["allocations"] for group in groups)

    def expect(self, way: Way, grouped: bool) -> None:
        """Exits unless the way's allocations are (or are not) served from the groups."""
        found = self.grouped(way)
        if (found > 0) != grouped:
            sys.exit(f"{way.label}: {found} grouped allocations")

    def measure(self, ways: Sequence[Way]) -> Times:
        times: Times = {}
        for trial in range(self.options.trials + 1):
            for way in random.sample(ways, len(ways)):
                output = self.run(way, way.environment)
                for line in output.splitlines() if trial else ():
                    pattern, size, value = line.split()
                    key = (way.label, pattern, int(size))
                    times.setdefault(key, []).append(float(value))
        place = {way.label: at for at, way in enumerate(ways)}
        return dict(sorted(times.items(), key=lambda item: place[item[0][0]]))


def forward(bench: Bench) -> Shown:
    plan = bench.plan(1)
    alone, over = {}, {}
    for allocator in four_allocators():
        name = allocator.name
        alone[name] = bench.way(name, OUTSIDE, bench.alone(name))
        over[name] = bench.way(f"halo over {name}", OUTSIDE, bench.planned(plan, name))
        bench.expect(over[name], grouped=False)
    times = bench.measure([*alone.values(), *over.values()])
    more = {
        (name, pattern, size): statistics.median(times[over[name].label, pattern, size])
        - statistics.median(times[name, pattern, size])
        for name in alone
        for pattern in PATTERNS
        for size in bench.options.sizes
    }
    return Shown(
        unit="ns a pair",
        rows=summaries(times),
        figures={
            f"over {name}, {pattern}, {size} bytes: ns more": value
            for (name, pattern, size), value in more.items()
        },
        bars=[
            Bar(f"over {name}, {size} bytes: ns more", value, MOST_FORWARDING_NS)
            for (name, pattern, size), value in more.items()
            if pattern == "pair"
        ],
    )


def grouped(bench: Bench) -> Shown:
    """The rivals run the same chain of calls, so that all that differs is the allocator."""
    rivals = {1: "mimalloc", 4: "glibc"}
    ways = []
    for depth in rivals:
        ways.append(bench.way(f"halo, frame {depth}", depth, bench.planned(bench.plan(depth))))
        bench.expect(ways[-1], grouped=True)
        for allocator in four_allocators():
            name = allocator.name
            ways.append(bench.way(f"{name}, frame {depth}", depth, bench.alone(name)))
    times = bench.measure(ways)
    ratios = {
        (depth, rival, pattern, size): statistics.median(
            times[f"halo, frame {depth}", pattern, size]
        )
        / statistics.median(times[f"{rival}, frame {depth}", pattern, size])
        for depth, rival in rivals.items()
        for pattern in PATTERNS
        for size in bench.options.sizes
    }
    return Shown(
        unit="ns a pair",
        rows=summaries(times),
        figures={
            f"frame {depth}, {pattern}, {size} bytes: times {rival}'s": value
            for (depth, rival, pattern, size), value in ratios.items()
        },
        bars=[
            Bar(f"frame {depth}, {size} bytes: times {rival}'s pair", value, 1.0)
            for (depth, rival, pattern, size), value in ratios.items()
            if pattern == "pair"
        ],
    )


def frames(bench: Bench) -> Shown:
    """The same calls under a plan with one group, which the innermost frame decides, are deducted.

    At one call site, so that both serve the same block each time and differ in the walk alone.
    """
    ways = []
    for depth in range(1, DEPTHS + 1):
        for apart in (True, False):
            label = f"{depth} frames, " + ("walked" if apart else "decided by the caller")
            ways.append(bench.way(label, depth, bench.planned(bench.plan(depth, apart))))
            bench.expect(ways[-1], grouped=True)
    times = bench.measure(ways)
    figures = {}
    for size in bench.options.sizes:
        walks = [
            statistics.median(times[f"{depth} frames, walked", "same", size])
            - statistics.median(times[f"{depth} frames, decided by the caller", "same", size])
            for depth in range(1, DEPTHS + 1)
        ]
        for depth, walk in enumerate(walks, 1):
            figures[f"walk to frame {depth}, {size} bytes: ns more"] = walk
        slope = statistics.linear_regression(range(1, DEPTHS + 1), walks).slope
        figures[f"{size} bytes: ns a frame"] = slope
    rows = {key: row for key, row in summaries(times).items() if key[1] == "same"}
    return Shown("ns a pair", rows, figures, [])


def threads(bench: Bench) -> Shown:
    plan = bench.plan(1)
    environments = {
        "halo": bench.planned(plan),
        "glibc": bench.alone("glibc"),
        "mimalloc": bench.alone("mimalloc"),
    }
    size = bench.options.sizes[0]
    ways = [
        Way(
            f"{name}, {count} thread(s)",
            ("threads", "1", str(bench.options.repeats), str(size), str(count)),
            environment,
        )
        for name, environment in environments.items()
        for count in (1, 2)
    ]
    for way in ways[:2]:
        bench.expect(way, grouped=True)
    times = bench.measure(ways)
    gains = {
        (name, pattern): statistics.median(times[f"{name}, 2 thread(s)", pattern, size])
        / statistics.median(times[f"{name}, 1 thread(s)", pattern, size])
        for name in environments
        for pattern in (*PATTERNS, "exchange")
    }
    return Shown(
        unit="million pairs a second",
        rows=summaries(times),
        figures={
            f"{name}, {pattern}: times one thread's": gain
            for (name, pattern), gain in gains.items()
        },
        bars=[
            Bar(
                "two threads: times one thread's pairs",
                gains["halo", "pair"],
                LEAST_THREADS_GAIN,
                at_least=True,
            )
        ],
    )


def summaries(times: Times) -> dict[Key, Summary]:
    return {key: summarize(values) for key, values in times.items()}


def as_text(what: str, shown: Shown) -> str:
    lines = [f"{what}: {shown.unit}, median (quartiles)"]
    for (label, pattern, size), row in shown.rows.items():
        quartiles = f"({row.first_quartile:.2f} to {row.third_quartile:.2f})"
        lines.append(f"  {label:36} {pattern:9}{size:5} bytes {row.median:9.2f} {quartiles}")
    lines += [f"  {name}: {value:.2f}" for name, value in shown.figures.items()]
    for bar in shown.bars:
        sign = "at least" if bar.at_least else "at most"
        verdict = "met" if bar.met else "MISSED"
        lines.append(f"{bar.name}: {bar.value:.2f}, {sign} {bar.limit}: {verdict}")
    return "\n".join(lines)


def as_data(what: str, shown: Shown, options: Options) -> dict[str, object]:
    return {
        "what": what,
        "unit": shown.unit,
        "trials": options.trials,
        "rows": [
            {"way": label, "pattern": pattern, "size": size, **asdict(row)}
            for (label, pattern, size), row in shown.rows.items()
        ],
        "figures": dict(shown.figures),
        "bars": [{**asdict(bar), "met": bar.met} for bar in shown.bars],
    }


def selectors(bench: Bench) -> Shown:
    """Decided at the first and at the fourth frame, and objects that are in no group."""
    ways = []
    for kind in ("walk", "selectors"):
        for depth in (1, 4):
            plan = bench.planned(bench.plan(depth, identification=kind))
            ways.append(bench.way(f"{kind}, frame {depth}", depth, plan))
            bench.expect(ways[-1], grouped=True)
        outside = bench.planned(bench.plan(1, identification=kind))
        ways.append(bench.way(f"{kind}, outside", OUTSIDE, outside))
        bench.expect(ways[-1], grouped=False)
    times = bench.measure(ways)
    figures = {
        f"{place}, {size} bytes: ns more": statistics.median(
            times[f"selectors, {place}", "pair", size]
        )
        - statistics.median(times[f"walk, {place}", "pair", size])
        for place in ("frame 1", "frame 4", "outside")
        for size in bench.options.sizes
    }
    return Shown("ns a pair", summaries(times), figures, [])


@dataclass(frozen=True)
class Show:
    """What a command measures, and on which sizes and repetitions unless told."""

    measure: Callable[[Bench], Shown]
    sizes: tuple[int, ...]
    repeats: int


SHOWN = {
    "forward": Show(forward, (16, 32, 64, 256), 25),
    "grouped": Show(grouped, (16, 32, 64, 256), 25),
    "frames": Show(frames, (32,), 25),
    "selectors": Show(selectors, (32,), 25),
    "threads": Show(threads, (32,), 9),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=SHOWN)
    parser.add_argument("--trials", type=int, default=15, help="processes of each way")
    parser.add_argument("--repeats", type=int, help="repetitions in each process")
    parser.add_argument("--sizes", help="bytes, separated by commas")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    given = parser.parse_args()
    show = SHOWN[given.what]
    sizes = tuple(int(size) for size in given.sizes.split(",")) if given.sizes else show.sizes
    options = Options(given.trials, given.repeats or show.repeats, sizes)
    with tempfile.TemporaryDirectory(prefix="halo-pairs-") as folder:
        shown = show.measure(Bench(read_settings(), Path(folder), options))
    print(as_text(given.what, shown))
    if given.json:
        given.json.write_text(json.dumps(as_data(given.what, shown, options), indent=2) + "\n")
    return 0 if all(bar.met for bar in shown.bars) else 1


if __name__ == "__main__":
    sys.exit(main())
