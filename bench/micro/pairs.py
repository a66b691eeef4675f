"""Measures the cost of a pair of malloc and free under the runtime, in nanoseconds.

pairs.py forward   outside the plan, over each next allocator, against that allocator alone
pairs.py grouped   decided by the caller alone and at the fourth frame, against the allocators
pairs.py frames    the cost of each frame of a walk, from plans decided at frames 1 to 8
pairs.py selectors the walk and the paper's selectors, for the same groups
pairs.py threads   two threads against one, on the grouped path
pairs.py spread    blocks spread over the cache sets against adjacent ones, in single-size pages

Plans have eight groups, made by recording a training run of the measured program. Trials are fresh
processes, interleaved; the first of each configuration is dropped. Ends with status 1 if a
threshold is missed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bench.shared.halo_runs import run_halo
from bench.shared.interleaved import Configuration, interleave, run
from halo.base.settings import Settings, read_settings
from halo.binary.process.allocators import baseline_allocators, find_allocator, preload
from halo.measure.statistics import Spread, summarize
from halo.plan.runtimes import under_plan
from halo.record.profile import read_profile

MAX_FORWARDING_NS = 1.5
MAX_SPREAD_NS, MAX_LARGE_SPREAD_NS, LARGE = 0.3, 15.0, 4096  # the latter from that size on
MIN_THREADS_GAIN = 1.8
SITES = DEPTHS = 8
TRAINED = 200
OUTSIDE = 0
PATTERNS = ("pair", "same", "batch", "reverse")

Key = tuple[str, str, int]
"""The configuration's label, the pattern, the size in bytes."""
Times = dict[Key, list[float]]


@dataclass(frozen=True)
class Threshold:
    """A figure and its limit, which is a maximum or a minimum."""

    name: str
    value: float
    limit: float
    is_minimum: bool = False

    @property
    def met(self) -> bool:
        return self.value >= self.limit if self.is_minimum else self.value <= self.limit


@dataclass(frozen=True)
class Options:
    trials: int
    repeats: int
    sizes: tuple[int, ...]
    thread_pairs: int  # of malloc and free in each thread and repetition


@dataclass(frozen=True)
class Findings:
    """The results of one command: medians with quartiles, derived figures, and thresholds."""

    unit: str
    rows: Mapping[Key, Spread]
    figures: Mapping[str, float]
    thresholds: Sequence[Threshold]


class Bench:
    """The measured program and its plans, in a temporary folder."""

    def __init__(self, settings: Settings, folder: Path, options: Options) -> None:
        self.settings = settings
        self.folder = folder
        self.options = options
        self.program = settings.build / "bench" / "pair"
        if not self.program.is_file():
            sys.exit(f"{self.program} is not built; run: scripts/build.sh everything")

    def plan(
        self, depth: int, apart: bool = True, identification: str = "walk", layout: str = ""
    ) -> Path:
        """The eight contexts of that depth in a group each or, if not `apart`, in one.

        `layout` has options of the plan, separated by commas.
        """
        kind = "apart" if apart else "together"
        path = self.folder / f"{depth}-{kind}-{identification}-{layout}.plan"
        if path.exists():
            return path
        contexts = self._contexts(depth)
        groups = path.with_suffix(".groups")
        lists = [[at] for at in contexts] if apart else [contexts]
        groups.write_text(json.dumps({"groups": lists}))
        options = ["--strategy", "from-file", "--file", str(groups), "-o", str(path)]
        options += ["--identification", identification]
        for option in layout.split(",") if layout else ():
            options += ["--option", option]
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

    def config(self, label: str, depth: int, environment: Mapping[str, str]) -> Configuration:
        sizes = map(str, self.options.sizes)
        arguments = ("time", str(depth), str(self.options.repeats), *sizes)
        return self.timed(label, arguments, environment)

    def timed(
        self, label: str, arguments: Sequence[str], environment: Mapping[str, str]
    ) -> Configuration:
        return Configuration(label, (self.program, *arguments), environment)

    def alone(self, allocator: str) -> dict[str, str]:
        return preload(self.settings.environment, [find_allocator(allocator).library])

    def planned(self, plan: Path, allocator: str = "glibc") -> dict[str, str]:
        chosen = find_allocator(allocator)
        return under_plan(self.settings.environment, self.settings.runtime, plan, chosen)

    def grouped(self, config: Configuration) -> int:
        """Allocations from groups; not part of a trial, as trials run like a deployment."""
        stats = self.folder / "stats.json"
        run(replace(config, environment={**config.environment, "HALO_STATS": str(stats)}))
        groups = json.loads(stats.read_text())["groups"]
        return sum(group["allocations"] for group in groups)

    def expect(self, config: Configuration, grouped: bool) -> None:
        """Exits unless the allocations are (or are not) served from the groups."""
        found = self.grouped(config)
        if (found > 0) != grouped:
            sys.exit(f"{config.label}: {found} grouped allocations")

    def measure(self, configs: Sequence[Configuration]) -> Times:
        times: Times = {}
        for trial, label, _, output in interleave(configs, self.options.trials):
            for line in output.splitlines() if trial else ():
                pattern, size, value = line.split()
                times.setdefault((label, pattern, int(size)), []).append(float(value))
        place = {config.label: at for at, config in enumerate(configs)}
        return dict(sorted(times.items(), key=lambda item: place[item[0][0]]))


def forward(bench: Bench) -> Findings:
    plan = bench.plan(1)
    alone, over = {}, {}
    for allocator in baseline_allocators():
        name = allocator.name
        alone[name] = bench.config(name, OUTSIDE, bench.alone(name))
        over[name] = bench.config(f"halo over {name}", OUTSIDE, bench.planned(plan, name))
        bench.expect(over[name], grouped=False)
    times = bench.measure([*alone.values(), *over.values()])
    more = {
        (name, pattern, size): statistics.median(times[over[name].label, pattern, size])
        - statistics.median(times[name, pattern, size])
        for name in alone
        for pattern in PATTERNS
        for size in bench.options.sizes
    }
    return Findings(
        unit="ns a pair",
        rows=summaries(times),
        figures={
            f"over {name}, {pattern}, {size} bytes: ns more": value
            for (name, pattern, size), value in more.items()
        },
        thresholds=[
            Threshold(f"over {name}, {size} bytes: ns more", value, MAX_FORWARDING_NS)
            for (name, pattern, size), value in more.items()
            if pattern == "pair"
        ],
    )


def grouped(bench: Bench) -> Findings:
    """All configurations run the same chain of calls and differ only in the allocator."""
    baselines = {1: "mimalloc", 4: "glibc"}
    configs = []
    for depth in baselines:
        configs.append(
            bench.config(f"halo, frame {depth}", depth, bench.planned(bench.plan(depth)))
        )
        bench.expect(configs[-1], grouped=True)
        for allocator in baseline_allocators():
            name = allocator.name
            configs.append(bench.config(f"{name}, frame {depth}", depth, bench.alone(name)))
    times = bench.measure(configs)
    ratios = {
        (depth, baseline, pattern, size): statistics.median(
            times[f"halo, frame {depth}", pattern, size]
        )
        / statistics.median(times[f"{baseline}, frame {depth}", pattern, size])
        for depth, baseline in baselines.items()
        for pattern in PATTERNS
        for size in bench.options.sizes
    }
    return Findings(
        unit="ns a pair",
        rows=summaries(times),
        figures={
            f"frame {depth}, {pattern}, {size} bytes: times {baseline}'s": value
            for (depth, baseline, pattern, size), value in ratios.items()
        },
        thresholds=[
            Threshold(f"frame {depth}, {size} bytes: times {baseline}'s pair", value, 1.0)
            for (depth, baseline, pattern, size), value in ratios.items()
            if pattern == "pair"
        ],
    )


def more(times: Times, one: str, other: str, pattern: str, size: int) -> float:
    """The median of one configuration minus that of the other."""
    return statistics.median(times[one, pattern, size]) - statistics.median(
        times[other, pattern, size]
    )


def frames(bench: Bench) -> Findings:
    """Walks minus the same calls under a plan with one group, which the innermost frame decides.

    All calls are at one call site, so that both serve the same block and differ in the walk alone.
    """
    configs = []
    for depth in range(1, DEPTHS + 1):
        for apart in (True, False):
            label = f"{depth} frames, " + ("walked" if apart else "decided by the caller")
            configs.append(bench.config(label, depth, bench.planned(bench.plan(depth, apart))))
            bench.expect(configs[-1], grouped=True)
    times = bench.measure(configs)
    figures = {}
    for size in bench.options.sizes:
        walks = [
            more(
                times,
                f"{depth} frames, walked",
                f"{depth} frames, decided by the caller",
                "same",
                size,
            )
            for depth in range(1, DEPTHS + 1)
        ]
        for depth, walk in enumerate(walks, 1):
            figures[f"walk to frame {depth}, {size} bytes: ns more"] = walk
        slope = statistics.linear_regression(range(1, DEPTHS + 1), walks).slope
        figures[f"{size} bytes: ns a frame"] = slope
    rows = {key: row for key, row in summaries(times).items() if key[1] == "same"}
    return Findings("ns a pair", rows, figures, [])


def spread(bench: Bench) -> Findings:
    """Blocks at all slots of the cache sets, which is the default, minus adjacent ones."""
    layouts = {"spread": "by_size=true", "adjacent": "by_size=true,phase=none"}
    configs = [
        bench.config(label, 1, bench.planned(bench.plan(1, layout=layout)))
        for label, layout in layouts.items()
    ]
    for config in configs:
        bench.expect(config, grouped=True)
    times = bench.measure(configs)
    figures = {
        f"spread, {pattern}, {size} bytes: ns more": more(
            times, "spread", "adjacent", pattern, size
        )
        for pattern in PATTERNS
        for size in bench.options.sizes
    }
    thresholds = [
        Threshold(
            name,
            figures[name],
            MAX_LARGE_SPREAD_NS if size >= LARGE else MAX_SPREAD_NS,
        )
        for size in bench.options.sizes
        for name in [f"spread, pair, {size} bytes: ns more"]
    ]
    return Findings("ns a pair", summaries(times), figures, thresholds)


def threads(bench: Bench) -> Findings:
    plan = bench.plan(1)
    environments = {
        "halo": bench.planned(plan),
        "glibc": bench.alone("glibc"),
        "mimalloc": bench.alone("mimalloc"),
    }
    size, repeats = bench.options.sizes[0], bench.options.repeats
    configs = [
        bench.timed(
            f"{name}, {count} thread(s)",
            ("threads", "1", *map(str, (repeats, size, count, bench.options.thread_pairs))),
            environment,
        )
        for name, environment in environments.items()
        for count in (1, 2)
    ]
    for config in configs[:2]:
        bench.expect(config, grouped=True)
    times = bench.measure(configs)
    gains = {
        (name, pattern): statistics.median(times[f"{name}, 2 thread(s)", pattern, size])
        / statistics.median(times[f"{name}, 1 thread(s)", pattern, size])
        for name in environments
        for pattern in (*PATTERNS, "exchange")
    }
    return Findings(
        unit="million pairs a second",
        rows=summaries(times),
        figures={
            f"{name}, {pattern}: times one thread's": gain
            for (name, pattern), gain in gains.items()
        },
        thresholds=[
            Threshold(
                "two threads: times one thread's pairs",
                gains["halo", "pair"],
                MIN_THREADS_GAIN,
                is_minimum=True,
            )
        ],
    )


def summaries(times: Times) -> dict[Key, Spread]:
    return {key: summarize(values) for key, values in times.items()}


def as_text(what: str, findings: Findings) -> str:
    lines = [f"{what}: {findings.unit}, median (quartiles)"]
    for (label, pattern, size), row in findings.rows.items():
        quartiles = f"({row.first_quartile:.2f} to {row.third_quartile:.2f})"
        lines.append(f"  {label:36} {pattern:9}{size:5} bytes {row.median:9.2f} {quartiles}")
    lines += [f"  {name}: {value:.2f}" for name, value in findings.figures.items()]
    for threshold in findings.thresholds:
        sign = "at least" if threshold.is_minimum else "at most"
        verdict = "met" if threshold.met else "MISSED"
        lines.append(
            f"{threshold.name}: {threshold.value:.2f}, {sign} {threshold.limit}: {verdict}"
        )
    return "\n".join(lines)


def as_data(what: str, findings: Findings, options: Options) -> dict[str, object]:
    return {
        "what": what,
        "unit": findings.unit,
        "trials": options.trials,
        "rows": [
            {"way": label, "pattern": pattern, "size": size, **asdict(row)}
            for (label, pattern, size), row in findings.rows.items()
        ],
        "figures": dict(findings.figures),
        "thresholds": [
            {**asdict(threshold), "met": threshold.met} for threshold in findings.thresholds
        ],
    }


def selectors(bench: Bench) -> Findings:
    """Compares decisions at the first and the fourth frame, and objects in no group."""
    configs = []
    for kind in ("walk", "selectors"):
        for depth in (1, 4):
            plan = bench.planned(bench.plan(depth, identification=kind))
            configs.append(bench.config(f"{kind}, frame {depth}", depth, plan))
            bench.expect(configs[-1], grouped=True)
        outside = bench.planned(bench.plan(1, identification=kind))
        configs.append(bench.config(f"{kind}, outside", OUTSIDE, outside))
        bench.expect(configs[-1], grouped=False)
    times = bench.measure(configs)
    figures = {
        f"{place}, {size} bytes: ns more": more(
            times, f"selectors, {place}", f"walk, {place}", "pair", size
        )
        for place in ("frame 1", "frame 4", "outside")
        for size in bench.options.sizes
    }
    return Findings("ns a pair", summaries(times), figures, [])


@dataclass(frozen=True)
class Measurement:
    """The measurement of a command, and its default sizes and repetitions."""

    measure: Callable[[Bench], Findings]
    sizes: tuple[int, ...]
    repeats: int


MEASUREMENTS = {
    "forward": Measurement(forward, (16, 32, 64, 256), 25),
    "grouped": Measurement(grouped, (16, 32, 64, 256), 25),
    "frames": Measurement(frames, (32,), 25),
    "selectors": Measurement(selectors, (32,), 25),
    "threads": Measurement(threads, (32,), 9),
    "spread": Measurement(spread, (16, 32, 64, 256, 4096), 25),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=MEASUREMENTS)
    parser.add_argument("--trials", type=int, default=15, help="processes of each configuration")
    parser.add_argument("--repeats", type=int, help="repetitions in each process")
    parser.add_argument("--sizes", help="bytes, separated by commas")
    parser.add_argument(
        "--thread-pairs", type=int, default=1_000_000, help="pairs of each thread and repetition"
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    given = parser.parse_args()
    measurement = MEASUREMENTS[given.what]
    sizes = (
        tuple(int(size) for size in given.sizes.split(",")) if given.sizes else measurement.sizes
    )
    options = Options(given.trials, given.repeats or measurement.repeats, sizes, given.thread_pairs)
    with tempfile.TemporaryDirectory(prefix="halo-pairs-") as folder:
        findings = measurement.measure(Bench(read_settings(), Path(folder), options))
    print(as_text(given.what, findings))
    if given.json:
        given.json.write_text(json.dumps(as_data(given.what, findings, options), indent=2) + "\n")
    return 0 if all(threshold.met for threshold in findings.thresholds) else 1


if __name__ == "__main__":
    sys.exit(main())
