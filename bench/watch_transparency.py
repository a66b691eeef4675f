"""Runs test suites of other projects while all pages of their objects are trapped each millisecond.

watch_transparency.py [NAME...]   jq-tests, pugixml-tests, libxslt-tests, python3-tests, and the
                                  programs of programs.toml; without names, all

Every object up to 64 KiB is in the runtime's pages, every larger one has a span. jq, pugixml and
libxslt are built from Debian's sources and run their own tests; python3 runs tests of Debian's
package of them. The other programs run on their training inputs, and must have the same output.
Everything must have the same result as without the runtime; otherwise the exit status is 1.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from debian_source import SourceFetcher
from projects import PROJECTS, Project, build, shell
from traced_build import CLANG

from halo.base.settings import Settings, read_settings
from halo.measure.bundled import list_bundled, prepare
from halo.plan import PlanGroup, drawing_plan
from halo.plan.compact import encode
from halo.plan.layout import MAX_OBJECT_LIMIT, REUSE_NEWEST_FIRST
from halo.plan.model import Spans

LIBXSLT = Project(
    "libxslt",
    "C",
    ("./configure --without-python --disable-shared || autoreconf -fi && ./configure", "make -j2"),
    "make check",
)
PYTHON_TESTS = (
    *(
        "test_dict",
        "test_list",
        "test_sort",
        "test_heapq",
        "test_array",
        "test_struct",
        "test_zlib",
    ),
    *("test_memoryview", "test_mmap", "test_thread", "test_fork1", "test_threading", "test_gc"),
)
PYTHON = "/usr/bin/python3 -m test --timeout 600 " + " ".join(PYTHON_TESTS)
ADDRESS = re.compile(rb"0x[0-9a-f]{6,}")


@dataclass(frozen=True)
class Result:
    """The status of a run, and what has to be the same: lines of a test log, or an output."""

    status: int
    said: bytes


def stressed(settings: Settings, folder: Path) -> Mapping[str, str]:
    """The environment in which every page of every object is trapped."""
    group = PlanGroup(huge_pages=False, reuse=REUSE_NEWEST_FIRST, spans=Spans())
    plan = folder / "all.plan"
    plan.write_bytes(encode(drawing_plan([group], MAX_OBJECT_LIMIT, 16, None)))
    return {
        **settings.environment,
        "LD_PRELOAD": f"{settings.runtime} {settings.watch}",
        "HALO_PLAN": str(plan),
        "HALO_WATCH": "1",
        "HALO_WATCH_STRESS": "1",
        "HALO_WATCH_REPORT": str(folder / "report.%p.json"),
    }


def tested(built: Path, command: str, environment: Mapping[str, str], way: str) -> Result:
    log = built / f"halo-watch-{way}.log"
    log.unlink(missing_ok=True)
    status = shell(command, built, environment, log)
    verdicts = (
        rb"^(?:PASS|FAIL|ERROR|SKIP|XFAIL)\b.*|^.* tests passed.*|^Total: .*"
        rb"|^(?:All )?\d+ tests? (?:OK|failed|skipped).*|^Tests result: .*"
    )
    found = re.findall(verdicts, log.read_bytes(), re.MULTILINE)
    return Result(status, b"\n".join(sorted(found)))


def alike(name: str, plain: Result, trapped: Result) -> bool:
    same = plain == trapped
    lines = len(plain.said.splitlines())
    outcome = "the same" if same else f"DIFFERENT (status {plain.status}, {trapped.status})"
    print(f"{name}: {lines} lines of results, {outcome}", flush=True)
    return same and plain.status == 0


def project(settings: Settings, one: Project, trapping: Mapping[str, str]) -> bool:
    source = SourceFetcher(settings.build / "projects" / "apt").fetch(one.name)
    built = build(settings, one, source, CLANG)
    plain = tested(built, one.test, settings.environment, "plain")
    return alike(one.name, plain, tested(built, one.test, trapping, "trapped"))


def python_tests(settings: Settings, folder: Path, trapping: Mapping[str, str]) -> bool:
    plain = tested(folder, PYTHON, settings.environment, "plain")
    return alike("python3, its tests", plain, tested(folder, PYTHON, trapping, "trapped"))


def bundled(settings: Settings, name: str, trapping: Mapping[str, str]) -> bool:
    found = next(one for one in list_bundled(settings) if one.name == name)
    job, _ = prepare(settings, found)
    results = []
    for environment in (settings.environment, trapping):
        with open(job.stdin or os.devnull, "rb") as stdin:
            done = subprocess.run(
                job.command,
                stdin=stdin,
                env={**environment, **found.env},
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        results.append(Result(done.returncode, ADDRESS.sub(b"", done.stdout)))
    return alike(name, *results)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args()
    settings = read_settings()
    projects = {one.name: one for one in (*PROJECTS, LIBXSLT)}
    programs = [one.name for one in list_bundled(settings) if one.package]
    suites = [f"{name}-tests" for name in (*projects, "python3")]
    names = given.names or [*suites, *programs]
    held = []
    with tempfile.TemporaryDirectory(prefix="halo-transparency-") as folder:
        trapping = stressed(settings, Path(folder))
        for name in names:
            suite = name.removesuffix("-tests")
            if name == "python3-tests":
                held.append(python_tests(settings, Path(folder), trapping))
            elif suite != name:
                held.append(project(settings, projects[suite], trapping))
            else:
                held.append(bundled(settings, name, trapping))
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
