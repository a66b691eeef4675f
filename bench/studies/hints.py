"""Learns hints from traces of three programs (Miucin, section 3.5.3), and checks the controls.

hints.py learn FOLDER [NAME...]     keeps the results of halo study hints in FOLDER/NAME.json
hints.py table FOLDER [NAME...]     what predicts the objects that matter, and the thresholds
hints.py permuted [NAME...]         verdicts if the communities are permuted among the objects
hints.py speed                      time and memory for a million objects of 31 fields

Programs are built by the compiler wrappers; inputs are in traced_programs.py. Ends with status 1 if
a threshold is missed.
"""

from __future__ import annotations

import argparse
import math
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np

from bench.shared.keep_results import relative, write_small
from bench.shared.traced_build import build, call, wrappers
from bench.studies.traced_programs import PROGRAMS
from halo.base.settings import Settings, read_settings
from halo.studies.hints.document import HintPrediction, HintsDocument, TypeHint
from halo.studies.hints.features import META
from halo.studies.hints.run import HintOptions, Prepared, find_hints, prepare

NO_VECTORS = "-fno-slp-vectorize"  # which hide values from the trace
SEEDS = 20
FEW_TREES = (100,)
NO_CORRELATION = "no correlation"
OBJECTS, MAX_SECONDS, MAX_GIB = 1_000_000, 120.0, 4.0


def available(found: TypeHint) -> list[str]:
    """The fields that are known at birth, the most important first."""
    return [one.name for one in found.features if one.at_birth and one.group != META]


def _mesh(found: TypeHint) -> bool:
    assert found.accuracy is not None
    first = {one.name for one in found.features[:2]}
    return first == {"x", "y"} and found.accuracy.top1 >= 0.7 and found.accuracy.top5 >= 0.95


def _rbtree(found: TypeHint) -> bool:
    assert found.accuracy is not None
    first = found.features[0].name == "payload"
    return first and found.accuracy.top1 >= 0.9 and found.classes >= 8


def _pagerank(found: TypeHint) -> bool:
    weight = [one for one in found.features if one.name == "weight"]
    return "source" in available(found)[:2] and [one.at_birth for one in weight] == [False]


@dataclass(frozen=True)
class Subject:
    """The type whose objects matter, and what has to be found about it."""

    type: str
    is_as_expected: Callable[[TypeHint], bool]
    max_cycles: float | None = None  # modelled, of the traversal: with hints over ignored ones


SUBJECTS = {
    "mesh": Subject("mesh::Node", _mesh),
    "pagerank": Subject("pagerank::Edge", _pagerank, max_cycles=0.85),
    "rbtree": Subject("rbtree::Node", _rbtree),
}


def over_ignored(found: HintPrediction | None) -> float:
    """Modelled cycles with the hints over those with hints ignored; NaN if there is no hint."""
    return math.nan if found is None else found.hinted / found.ignored


def ratio_text(found: HintPrediction | None) -> str:
    """The ratio of `over_ignored`; a dash if the result does not have it."""
    return "-" if found is None else f"{over_ignored(found):.3f}"


def trace_of(settings: Settings, name: str, folder: Path) -> Path:
    program = build(settings, wrappers(settings), settings.bench / name, flags=[NO_VECTORS])
    return run_traced([str(program), *PROGRAMS[name].arguments], folder)


def run_traced(command: Sequence[str], folder: Path) -> Path:
    trace = folder / "program.trace"
    call([sys.executable, "-m", "halo", "study", "trace", "run", "-o", str(trace), "--", *command])
    return trace


def learn(settings: Settings, name: str, file: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="halo-hints-") as scratch:
        trace, result = trace_of(settings, name, Path(scratch)), Path(scratch) / "result.json"
        phase = PROGRAMS[name].phase
        options = [*phase, "--json", str(result), str(trace)]
        call([sys.executable, "-m", "halo", "study", "hints", *options])
        write_small(file, relative(result))


def table(folder: Path, names: Sequence[str]) -> bool:
    print(
        "| Program | type | top-1 | top-5 | communities | most important | known at birth |"
        " verdict | cycles of the run | of the traversal |"
    )
    print("| --- | --- | ---: | ---: | ---: | --- | --- | --- | ---: | ---: |")
    met = True
    for name in names:
        document = msgspec.json.decode((folder / f"{name}.json").read_bytes(), type=HintsDocument)
        subject = SUBJECTS[name]
        found = next(one for one in document.types if one.type == subject.type)
        if found.accuracy is None:
            sys.exit(f"{name}: nothing was learnt from {subject.type}: {found.why}")
        print(
            f"| {name} | {found.type} | {found.accuracy.top1:.2f} | {found.accuracy.top5:.2f} |"
            f" {found.classes} | {', '.join(one.name for one in found.features[:3])} |"
            f" {', '.join(available(found)[:3])} | {found.verdict} |"
            f" {ratio_text(document.predicted)} | {ratio_text(document.predicted_phase)} |"
        )
        met &= subject.is_as_expected(found)
        if subject.max_cycles is not None:
            met &= over_ignored(document.predicted_phase) <= subject.max_cycles
    return met


def permuted(settings: Settings, names: Sequence[str]) -> bool:
    """Each seed permutes the communities among all objects; the others' values stay."""
    met = True
    for name in names:
        with tempfile.TemporaryDirectory(prefix="halo-hints-") as scratch:
            folder = Path(scratch)
            found = prepare(settings, trace_of(settings, name, folder), folder)
            verdicts = [
                verdict(settings, found, SUBJECTS[name].type, seed, folder) for seed in range(SEEDS)
            ]
        right = verdicts.count(NO_CORRELATION)
        print(f"{name}: {right} of {SEEDS} are '{NO_CORRELATION}'", flush=True)
        met &= right == SEEDS
    return met


def verdict(settings: Settings, found: Prepared, kind: str, seed: int, folder: Path) -> str:
    order = np.random.default_rng(seed).permutation(len(found.layout.objects))
    layout = replace(found.layout, communities=found.layout.communities[:, order])
    options = HintOptions(types=kind, seed=seed, trees=FEW_TREES)
    document = find_hints(settings, replace(found, layout=layout), options, folder, lambda _: None)
    return document.types[0].verdict


def speed(settings: Settings) -> bool:
    """The study alone, behind the conversion of the trace."""
    with tempfile.TemporaryDirectory(prefix="halo-hints-") as scratch:
        folder = Path(scratch)
        program = build(settings, wrappers(settings), settings.bench / "fields", flags=[NO_VECTORS])
        found = prepare(settings, run_traced([str(program), str(OBJECTS)], folder), folder)
        before = resource.getrusage(resource.RUSAGE_SELF)
        began = time.perf_counter()
        document = find_hints(settings, found, HintOptions(), folder, lambda _: None)
        seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_SELF)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    gib = after.ru_maxrss / (1 << 20)
    [kind] = [one for one in document.types if one.features]
    print(
        f"{kind.objects:,} objects, {len(kind.features)} features: {seconds:.0f} s,"
        f" {used:.0f} s of processor time, {gib:.2f} GiB; {kind.verdict}"
    )
    return kind.objects >= OBJECTS and seconds <= MAX_SECONDS and gib <= MAX_GIB


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("learn", "table", "permuted", "speed"))
    parser.add_argument("names", nargs="*", metavar="[FOLDER] NAME")
    given = parser.parse_args()
    settings = read_settings()
    if given.what == "speed":
        return 0 if speed(settings) else 1
    if given.what == "permuted":
        return 0 if permuted(settings, given.names or list(SUBJECTS)) else 1
    if not given.names:
        parser.error("give a FOLDER")
    folder, names = Path(given.names[0]), given.names[1:] or list(SUBJECTS)
    if given.what == "table":
        return 0 if table(folder, names) else 1
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        if not (folder / f"{name}.json").is_file():
            learn(settings, name, folder / f"{name}.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
