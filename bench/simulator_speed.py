"""Measures the speed at which one core simulates the bundled programs' accesses.

The accesses are the first 40 million of each training run, recorded by valgrind's lackey. Ends with
status 1 if a program is simulated at less than 50 million accesses per second of processor time, or
25 million if misses are classified.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys

from halo.base.settings import Settings, read_settings
from halo.measure.bundled import Bundled, find_bundled, list_plain, prepare

MILLIONS = 40
SLOWEST = 50.0
SLOWEST_WITH_CLASSES = 25.0


def speed(settings: Settings, program: Bundled, classes: bool) -> float:
    """Millions of accesses per second; prints the simulator's own report."""
    train, _ = prepare(settings, program)
    reading, writing = os.pipe()
    lackey = ["valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-fd={writing}", "--"]
    with subprocess.Popen(
        [*lackey, str(train.target.path), *train.arguments],
        env={**os.environ, **program.env},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[writing],
    ) as recorder:
        try:
            os.close(writing)
            bench = str(settings.build / "bin" / "halo-simulator-bench")
            command = [bench, *(["--classes"] if classes else []), str(MILLIONS), "-"]
            done = subprocess.run(command, stdin=reading, capture_output=True, text=True)
        finally:
            os.close(reading)
            recorder.kill()
    found = re.match(r"-: (([\d.]+) M accesses/s.*)", done.stdout)
    if found is None:
        sys.exit(f"{program.name}: nothing was simulated: {done.stderr}")
    print(f"{program.name}: {found[1]}", flush=True)
    return float(found[2])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", help="default: all bundled ones but variants")
    parser.add_argument("--classes", action="store_true", help="classify misses")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("simulator_speed: valgrind is missing; to install it: scripts/setup.sh bench")
    settings = read_settings()
    programs = [find_bundled(settings, name) for name in options.programs]
    programs = programs or list_plain(settings)
    speeds = [speed(settings, program, options.classes) for program in programs]
    return 0 if min(speeds) >= (SLOWEST_WITH_CLASSES if options.classes else SLOWEST) else 1


if __name__ == "__main__":
    sys.exit(main())
