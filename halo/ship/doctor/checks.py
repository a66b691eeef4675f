"""The machine checks of `halo doctor`: the state of each part, and the command that fixes it."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from halo.base.errors import HaloError, MissingPart
from halo.base.settings import Settings
from halo.binary.process.allocators import KNOWN, find_allocator
from halo.binary.process.target import Target
from halo.binary.process.watch import watch_refusal
from halo.measure.runs.machine import allocator_version, huge_page_setting
from halo.plan.runtimes import runtimes
from halo.record.parts import Limits, gather_parts, workspace
from halo.record.producer import Producer, RecordingJob
from halo.record.registry import ENGINES
from halo.ship.doctor.check import CheckState, MachineCheck, judged
from halo.ship.doctor.optional_parts import optional_parts

# Packages by module, with the command that needs them; without one, recording and measuring do.
MODULES = {
    **dict.fromkeys(("numpy", "rich", "elftools", "msgspec"), ""),
    **dict.fromkeys(("duckdb", "pyarrow"), "halo study trace"),
    "matplotlib": "halo plot and halo report",
}


def check_machine(settings: Settings) -> Iterator[MachineCheck]:
    """All checks of the machine, the most important first."""
    yield _architecture()
    yield from _products(settings)
    yield from _engines(settings)
    for name in KNOWN:
        yield _attempt(name, partial(_allocator, name), settings.repair)
    yield _huge_pages()
    yield _counters()
    yield _watch(settings)
    yield from _python(settings)
    yield _addr2line()
    yield from optional_parts(settings.environment)


def _attempt(what: str, action: Callable[[], str], fix: str) -> MachineCheck:
    try:
        return MachineCheck(what, CheckState.OK, action())
    except HaloError as error:
        sentence, _, remedy = str(error).partition("; ")
        command = remedy.rpartition(": ")[2]
        known = fix if command.startswith("make ") else command or fix
        return MachineCheck(what, CheckState.MISSING, sentence, known)


def _architecture() -> MachineCheck:
    machine = platform.machine()
    good = machine == "x86_64" and platform.system() == "Linux"
    fix = "halo needs an x86-64 Linux machine"
    return MachineCheck("architecture", judged(good, CheckState.MISSING), machine, fix)


def _products(settings: Settings) -> Iterator[MachineCheck]:
    recorders = (settings.guest, settings.engine, settings.consumer)
    for path in (*runtimes(settings.runtime), *recorders):
        found = path.is_file()
        detail = str(path) if found else "not built"
        yield MachineCheck(path.name, judged(found, CheckState.MISSING), detail, settings.repair)


def _engines(settings: Settings) -> Iterator[MachineCheck]:
    """Checks of the engines; only the first one is needed."""
    for engine in ENGINES:
        attempt = partial(_try_engine, settings, engine)
        check = _attempt(f"engine {engine.name}", attempt, settings.repair)
        absent = check.state is CheckState.MISSING and engine is not ENGINES[0]
        yield replace(check, state=CheckState.NOTE) if absent else check


def _try_engine(settings: Settings, engine: Producer) -> str:
    """Records a small program."""
    engine.check(settings)
    program = shutil.which("true") or "/bin/true"
    job = RecordingJob(Target(Path(program), program), [], Limits())
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


def _huge_pages() -> MachineCheck:
    setting = huge_page_setting("enabled")
    fix = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
    state = judged(setting in ("always", "madvise"), CheckState.NOTE)
    return MachineCheck("huge pages", state, setting, fix)


def _counters() -> MachineCheck:
    path = Path("/proc/sys/kernel/perf_event_paranoid")
    level = path.read_text().strip() if path.exists() else "no support in the kernel"
    counters = Path("/sys/bus/event_source/devices/cpu").exists()
    detail = f"perf_event_paranoid {level}, {'a' if counters else 'no'} hardware counter unit"
    return MachineCheck("perf counters", judged(counters, CheckState.INFO), detail)


def _watch(settings: Settings) -> MachineCheck:
    """Whether programs can be watched while they run (`halo exec --watch`)."""
    if not settings.watch.is_file():
        return MachineCheck("live watch", CheckState.NOTE, "not built", settings.repair)
    reason = watch_refusal(settings.watch)
    fix = "run as root, on Linux 6.8 or later, outside containers that refuse userfaultfd"
    state = judged(not reason, CheckState.NOTE)
    return MachineCheck("live watch", state, reason or "userfaultfd moves pages", fix)


def _python(settings: Settings) -> Iterator[MachineCheck]:
    yield MachineCheck("python", CheckState.OK, platform.python_version())
    for module, use in MODULES.items():
        found = importlib.util.find_spec(module) is not None
        state = judged(found, CheckState.OPTIONAL if use else CheckState.MISSING)
        detail = "there" if found else f"missing{f'; it is for {use}' if use else ''}"
        yield MachineCheck(f"python: {module}", state, detail, settings.package_command(module))


def _addr2line() -> MachineCheck:
    path = shutil.which("addr2line")
    state = judged(path is not None, CheckState.NOTE)
    return MachineCheck("addr2line", state, path or "missing", "apt-get install binutils")
