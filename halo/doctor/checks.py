"""The machine checks of `halo doctor`: the state of each part, and the command that fixes it."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from halo.errors import HaloError, MissingPart
from halo.process.allocators import KNOWN, find_allocator
from halo.process.target import Target
from halo.process.watch import watch_refusal
from halo.recording.parts import Limits, gather_parts, workspace
from halo.recording.producer import Job, Producer
from halo.recording.registry import ENGINES
from halo.settings import Settings
from halo.trials.runs.machine import allocator_version, huge_page_setting

BUILD = "make build"


@dataclass(frozen=True)
class Check:
    """One line of the doctor's report; `needed` is False if it is for information only."""

    what: str
    good: bool
    detail: str
    fix: str = ""
    needed: bool = True


def check_machine(settings: Settings) -> Iterator[Check]:
    """All checks of the machine, the most important first."""
    yield _architecture()
    yield from _products(settings)
    yield from _engines(settings)
    for name in KNOWN:
        yield _attempt(name, partial(_allocator, name), "make setup")
    yield _huge_pages()
    yield _counters()
    yield _watch(settings)
    yield from _python()
    yield _addr2line()


def _attempt(what: str, action: Callable[[], str], fix: str) -> Check:
    try:
        return Check(what, True, action())
    except HaloError as error:
        sentence, _, remedy = str(error).partition("; ")
        return Check(what, False, sentence, remedy.rpartition(": ")[2] or fix)


def _architecture() -> Check:
    machine = platform.machine()
    good = machine == "x86_64" and platform.system() == "Linux"
    return Check("architecture", good, machine, "halo needs an x86-64 Linux machine")


def _products(settings: Settings) -> Iterator[Check]:
    recorders = (settings.recorder, settings.guest, settings.engine, settings.consumer)
    for path in (settings.runtime, *recorders):
        found = path.is_file()
        yield Check(path.name, found, str(path) if found else "not built", BUILD)


def _engines(settings: Settings) -> Iterator[Check]:
    """Checks of the engines; only the first one is needed."""
    for engine in ENGINES:
        check = _attempt(f"engine {engine.name}", partial(_try_engine, settings, engine), BUILD)
        yield replace(check, needed=engine is ENGINES[0])


def _try_engine(settings: Settings, engine: Producer) -> str:
    """Records a small program."""
    engine.check(settings)
    program = shutil.which("true") or "/bin/true"
    job = Job(Target(Path(program), program), [], Limits())
    with workspace() as folder:
        with engine.session(settings, job, folder) as command:
            done = subprocess.run(
                list(command.arguments),
                executable=command.path,
                env=dict(command.environment),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode or not gather_parts(folder):
            lines = done.stderr.strip().splitlines() or ["it left no profile"]
            raise MissingPart(f"{engine.name} does not run the recorder: {lines[-1]}")
    return f"records {program}"


def _allocator(name: str) -> str:
    allocator = find_allocator(name)
    return f"{allocator_version(allocator)} {allocator.library or ''}".strip()


def _huge_pages() -> Check:
    setting = huge_page_setting("enabled")
    fix = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
    return Check("huge pages", setting in ("always", "madvise"), setting, fix, needed=False)


def _counters() -> Check:
    path = Path("/proc/sys/kernel/perf_event_paranoid")
    level = path.read_text().strip() if path.exists() else "no support in the kernel"
    counters = Path("/sys/bus/event_source/devices/cpu").exists()
    detail = f"perf_event_paranoid {level}, {'a' if counters else 'no'} hardware counter unit"
    return Check("perf counters", True, detail, needed=False)


def _watch(settings: Settings) -> Check:
    """Whether programs can be watched while they run (`halo exec --watch`)."""
    if not settings.watch.is_file():
        return Check("live watch", False, "not built", BUILD, needed=False)
    reason = watch_refusal(settings.watch)
    fix = "run as root, on Linux 6.8 or later, outside containers that refuse userfaultfd"
    return Check("live watch", not reason, reason or "userfaultfd moves pages", fix, needed=False)


def _python() -> Iterator[Check]:
    yield Check("python", True, platform.python_version())
    for module in ("numpy", "rich", "elftools"):
        found = importlib.util.find_spec(module) is not None
        yield Check(f"python: {module}", found, "there" if found else "missing", "make setup")


def _addr2line() -> Check:
    path = shutil.which("addr2line")
    return Check(
        "addr2line", path is not None, path or "missing", "apt-get install binutils", needed=False
    )
