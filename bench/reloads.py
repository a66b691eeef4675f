"""Measures the cost of reloading a plug-in under a plan with many states in the plug-in.

reloads.py [--callers N] [--rounds N] [--trials N]

The plug-in is opened and closed again and again, mostly at other addresses, and allocates twenty
objects each time. It calls malloc from all of its functions, or from fifty that the others call.
A ratio is that of the time under a plan of all of these contexts to the time without the runtime.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from interleaved import Configuration, interleave

from halo.base.settings import read_settings
from halo.binary.process.allocators import find_allocator, under_plan
from halo.measure.statistics import ratio
from halo.record.profile import read_profile

REPOSITORY = Path(__file__).resolve().parent.parent
LIFE = REPOSITORY / "tests" / "programs" / "life"
INNER = 50
FLAGS = ("-O2", "-fno-inline", "-fno-optimize-sibling-calls", "-fno-builtin", "-fno-ipa-icf")
HIDDEN = '__attribute__((visibility("hidden")))'

PROLOGUE = """
#include <stdlib.h>
#define MAKER(name, make) \\
  void* name(size_t n) { char* p = make(n); p[0] = 1; return p; }
"""
TRAINER = """
#include <dlfcn.h>
int main(int argc, char** argv) {
  (void)argc;
  void (*everything)(void) = (void (*)(void))dlsym(dlopen(argv[1], RTLD_NOW), "everything");
  everything();
}
"""


def plug_in_source(callers: int, inner: int) -> str:
    """C source of a plug-in with `callers` allocating functions, through `inner` others if any."""
    lines = [PROLOGUE, *(f"{HIDDEN} MAKER(inner{i}, malloc)" for i in range(inner))]
    makers = [f"inner{i % inner}" if inner else "malloc" for i in range(callers)]
    names = ["twin_left", "twin_right", *(f"make{i}" for i in range(2, callers))]
    lines += [
        f"{HIDDEN if name.startswith('make') else ''} MAKER({name}, {maker})"
        for name, maker in zip(names, makers, strict=True)
    ]
    calls = "\n".join(f"  free({name}(32));" for name in names)
    return "\n".join([*lines, f"void everything(void) {{\n{calls}\n}}", ""])


def compile_c(output: Path, source: str | Path, *flags: str) -> Path:
    """Compiles a file or a text."""
    given = [str(source)] if isinstance(source, Path) else ["-x", "c", "-"]
    text = None if isinstance(source, Path) else source
    command = ["gcc", *FLAGS, f"-I{LIFE}", *given, "-o", str(output), *flags]
    subprocess.run(command, input=text, text=True, check=True)
    return output


def halo(*arguments: str | Path) -> None:
    done = subprocess.run([REPOSITORY / "bin" / "halo", *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"halo {arguments[0]} failed: {done.stderr.strip()}")


def plan_of_everything(folder: Path, plug_in: Path) -> Path:
    """A plan of all contexts of the plug-in, alternating between two groups."""
    profile, groups, plan = folder / "profile", folder / "groups.json", folder / "plan"
    trainer = compile_c(folder / "trainer", TRAINER)
    halo("record", "-o", profile, "--", trainer, plug_in)
    used = [at for at, context in enumerate(read_profile(profile).contexts) if context.accesses]
    groups.write_text(json.dumps({"groups": [used[::2], used[1::2]]}))
    wanted = ("--strategy", "from-file", "--file", groups, "--option", "any_program=true")
    halo("plan", profile, *wanted, "-o", plan)
    return plan


def measure(folder: Path, callers: int, inner: int, rounds: int, trials: int) -> None:
    """Prints a line for one plug-in."""
    plug_in = compile_c(folder / "plug-in.so", plug_in_source(callers, inner), "-shared", "-fPIC")
    program = compile_c(folder / "reloads", LIFE / "reloads.c")
    plan = plan_of_everything(folder, plug_in)
    environment, runtime = dict(os.environ), read_settings().runtime
    command = [str(program), str(plug_in), str(rounds)]
    configs = [
        Configuration("without", command, environment),
        Configuration(
            "plan", command, under_plan(environment, runtime, plan, find_allocator("glibc"))
        ),
    ]
    times: dict[str, list[float]] = {config.label: [] for config in configs}
    printed = dict.fromkeys(times, "")
    for run in interleave(configs, trials):
        printed[run.label] = run.output.strip()
        if run.trial:
            times[run.label].append(run.seconds)
    found = ratio(times["plan"], times["without"])
    each = min(times["without"]) / rounds * 1e6
    where = f"behind {inner} functions" if inner else "each its own call of malloc"
    interval = f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"
    print(f"{callers} callers, {where}: {interval} of {each:.0f} us; {printed['plan']}", flush=True)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--callers", type=int, default=5000, help="of each plug-in (%(default)s)")
    parser.add_argument("--rounds", type=int, default=100_000, help="reloads (%(default)s)")
    parser.add_argument(
        "--trials", type=int, default=11, help="runs of each configuration (%(default)s)"
    )
    options = parser.parse_args(arguments)
    for inner in (0, INNER):
        with tempfile.TemporaryDirectory(prefix="halo-reloads-") as name:
            measure(Path(name), options.callers, inner, options.rounds, options.trials)


if __name__ == "__main__":
    main(sys.argv[1:])
