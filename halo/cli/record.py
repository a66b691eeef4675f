"""`halo record`: runs a program under the recorder and writes a profile."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from halo.base.console.outcome import say
from halo.base.errors import BadInput, HaloError, RecordingFailed, UsageError
from halo.base.settings import Settings
from halo.binary.process.foreground import Ending, end_like
from halo.binary.process.target import Target, find_target
from halo.cli.shared.numbers import positive
from halo.cli.shared.options import add_sink_option
from halo.cli.shared.program import deep_binding_warning, the_program
from halo.cli.shared.service import add_service_options, add_timeout_option, service_of
from halo.record.native import NativeProducer
from halo.record.parts import (
    MAX_OBJECT,
    MAX_OBJECT_OF_CONFLICTS,
    Limits,
    Recording,
    gather_parts,
    largest_followed,
    machine_argument,
    workspace,
)
from halo.record.producer import Producer, RecordingJob, has_no_bursts
from halo.record.progress import ProgressLines
from halo.record.registry import PRODUCERS, find_producer
from halo.record.run import record
from halo.record.sink_options import SINK_OPTIONS

if TYPE_CHECKING:
    from halo.measure.runs.process_watch import Seen
    from halo.measure.services.service import Service


LIVE_SECONDS = 60
FLAGS = [option for option in SINK_OPTIONS if option.flag]


class RecordCommand:
    name = "record"
    summary = "Record a program and write a profile."
    usage = "halo record [OPTIONS] (-- PROG ARGS | --pid PID | --trace TRACE)"
    examples = (
        "halo record -o jq.profile -- jq . small.json",
        "halo record --pid 4711 --seconds 30",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        engines = "; ".join(f"{producer.name}: {producer.summary}" for producer in PRODUCERS)
        parser.add_argument(
            "--engine",
            "--producer",
            choices=[producer.name for producer in PRODUCERS],
            metavar="NAME",
            help=f"recording engine: {engines} (default: the first that works here and records"
            " what is asked for)",
        )
        parser.add_argument(
            "--trace",
            type=Path,
            metavar="TRACE",
            help="stored trace to make the profile from, without running a program",
        )
        parser.add_argument(
            "--pid",
            type=positive,
            metavar="PID",
            help="process to record, which goes on; started by `halo exec --recordable`",
        )
        parser.add_argument(
            "--seconds",
            type=positive,
            metavar="SECONDS",
            help=f"time of the recording with --pid (default {LIVE_SECONDS}); Ctrl-C ends it, too",
        )
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            metavar="PROFILE",
            help="profile to write (default: PROG.profile or TRACE.profile in the current folder)",
        )
        parser.add_argument(
            "--max-object",
            type=positive,
            metavar="BYTES",
            help=f"size of the largest object to follow (default {MAX_OBJECT}, with --conflicts"
            f" {MAX_OBJECT_OF_CONFLICTS})",
        )
        parser.add_argument(
            "--exact",
            action="store_true",
            help="record all accesses, also with an engine that records bursts of them",
        )
        for option in FLAGS:
            add_sink_option(parser, option)
        add_service_options(parser)
        add_timeout_option(
            parser,
            "a hundredth of the time limit of the load, as the program is slower under the"
            " recorder; only with --load (default 600)",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.base.files.destination import check_place
        from halo.measure.runs.process_watch import ProcessWatch
        from halo.measure.runs.wrappers import refuse_known_launcher

        machines = _machine_texts(options)
        if options.pid is not None:
            return self._live(settings, options, rest)
        if options.seconds is not None:
            raise UsageError("--seconds limits the recording of a process: give it with --pid PID.")
        if options.trace is not None:
            return self._stored(settings, options, machines, rest)
        name, arguments = the_program(rest, self.name)
        target = find_target(name, settings.environment, arguments)
        path = options.output or Path(f"{target.path.name}.profile")
        check_place(path)
        refuse_known_launcher(target, arguments, settings.environment)
        everything = bool(machines) or _limits(options, {}, path.parent).need_everything
        producer = find_producer(settings, options.engine, everything)
        service = service_of(options)
        if service is not None:
            return self._service(settings, options, machines, producer, target, arguments, service)
        if options.timeout is not None:
            raise UsageError("--timeout limits the load of a service: give it with --load SCRIPT.")
        helpers = (settings.tracer, settings.consumer)
        watching = ProcessWatch(os.getpid(), target.path, producer.mark(settings), helpers)
        with workspace() as folder, watching as watch:
            progress = ProgressLines(folder / "progress")
            job = RecordingJob(target, arguments, _limits(options, machines, folder))
            meanwhile = Meanwhile(settings, target)
            recording = record(producer, settings, job, folder, progress.tick)
            meanwhile.end()
            self._judge_work(target, watch.seen.slowed(producer.slowdown, producer.start_seconds))
            self._save(producer, recording, target, arguments, path)
            _warn_of_engine(producer, recording.ending, target, folder)
        if recording.parts:
            _tell_next_step(settings, path)
        return end_like(recording.ending)

    def _service(
        self,
        settings: Settings,
        options: argparse.Namespace,
        machines: Mapping[str, str],
        producer: Producer,
        target: Target,
        arguments: list[str],
        service: Service,
    ) -> int:
        """Records a service under its load, whose output is copied to our own."""
        from halo.measure.runs.job import Job as Measured
        from halo.measure.runs.launcher import Launcher
        from halo.measure.runs.simulated_runs import run_recorder

        path = options.output or Path(f"{target.path.name}.profile")
        job = Measured(target, tuple(arguments), service=service, timeout=options.timeout)
        with workspace() as scratch, Launcher() as launcher:
            limits, folder = _limits(options, machines, scratch), scratch / "service"
            run = run_recorder(
                *(settings, launcher, job, settings.environment, limits, folder),
                producer=producer,
            )
            sys.stdout.write((folder / "stdout").read_text(errors="replace"))
            recording = Recording(run.ending, tuple(gather_parts(folder)), run.wall)
            self._save(producer, recording, target, arguments, path)
        _tell_next_step(settings, path)
        return 0

    def _live(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        """Records a process that goes on."""
        from halo.base.files.destination import check_place
        from halo.record.live import find_process, record_live

        if rest or options.trace is not None or options.load is not None:
            raise UsageError("--pid records a process that runs: give it without a program.")
        if options.engine not in (None, NativeProducer.name):
            raise UsageError(f"--engine {options.engine} cannot record a process that runs.")
        process, producer = find_process(settings, options.pid), NativeProducer()
        path = options.output or Path(f"{process.target.name}.profile")
        check_place(path)
        producer.check(settings)
        with workspace() as folder:
            limits = _limits(options, {}, folder)
            progress, seconds = ProgressLines(folder / "progress"), options.seconds or LIVE_SECONDS
            recording = record_live(settings, process, seconds, limits, folder, progress.tick)
            self._save(producer, recording, process.target, list(process.arguments), path)
        _tell_next_step(settings, path)
        return 0

    def _judge_work(self, target: Target, seen: Seen) -> None:
        """Refuses or warns of a program that only executes another one."""
        from halo.measure.runs.process_watch import refuse_wrapper, remark_others

        refuse_wrapper(target.name, seen)
        remark = remark_others(target.name, seen)
        if remark:
            print(f"halo: warning: {remark}", file=sys.stderr)

    def _stored(
        self,
        settings: Settings,
        options: argparse.Namespace,
        machines: Mapping[str, str],
        rest: list[str],
    ) -> int:
        from halo.base.files.destination import check_place
        from halo.record.merge import merge_recording
        from halo.registry import STORED_TRACE, load

        if rest:
            raise UsageError("Give either a program to run or --trace TRACE, not both.")
        if options.engine in {it.name for it in PRODUCERS if it.records_any_program}:
            raise UsageError(f"--trace runs nothing, so --engine {options.engine} means nothing.")
        path = options.output or Path(f"{options.trace.name}.profile")
        check_place(path)
        with workspace() as folder:
            limits = _limits(options, machines, folder)
            (profile_of,) = load([STORED_TRACE])
            stored = profile_of(settings, options.trace, limits, folder)
            merge_recording([stored.part], stored.program, stored.arguments, path)
        _tell_next_step(settings, path)
        return 0

    def _save(
        self,
        producer: Producer,
        recording: Recording,
        target: Target,
        arguments: list[str],
        path: Path,
    ) -> None:
        """Writes the profile; if a signal killed the program, halo ends in the same way."""
        from halo.record.merge import merge_recording

        ending = recording.ending
        if not recording.parts:
            failure = RecordingFailed(
                f"{target.name} ended {_how(ending)} without leaving a profile, so none was"
                f" written; {producer.nothing(target)}"
            )
            if not ending.signal:
                raise failure
            print(f"halo: {failure}", file=sys.stderr)
            return
        try:
            profile = merge_recording(recording.parts, target.path, arguments, path)
        except BadInput:
            raise
        except HaloError as error:
            raise RecordingFailed(f"The recording of {target.name} is unusable: {error}") from error
        if has_no_bursts(producer, profile):
            say(
                f"halo: no access was recorded, as {target.name} allows no bursts;"
                " --exact records all accesses"
            )


def _machine_texts(options: argparse.Namespace) -> dict[str, str]:
    """The described machines by option; raises `BadInput` before anything is run."""
    given = {option.name: getattr(options, option.name) for option in FLAGS if option.machine}
    return {name: _machine_text(value) for name, value in given.items() if value}


def _machine_text(value: str) -> str:
    from halo.record.simulation import machine_text

    return "" if value == "this" else machine_text(Path(value))


def _limits(options: argparse.Namespace, machines: Mapping[str, str], folder: Path) -> Limits:
    """The recorder's parameters; writes described machines into the folder."""
    sinks = {option.name: getattr(options, option.name) for option in FLAGS if not option.machine}
    sinks |= {name: machine_argument(text, folder) for name, text in machines.items()}
    largest = options.max_object or largest_followed(bool(options.conflicts))
    return Limits(largest, sinks, options.exact)


class Meanwhile:
    """Work during the program's run: checks its libraries, and imports the code for merging."""

    def __init__(self, settings: Settings, target: Target) -> None:
        self._warning = ""
        self._thread = Thread(target=self._work, args=(settings, target), daemon=True)
        self._thread.start()

    def _work(self, settings: Settings, target: Target) -> None:
        self._warning = deep_binding_warning(settings, target.path)
        import_module("halo.plan.strategies.planning")

    def end(self) -> None:
        """Prints the warnings."""
        self._thread.join()
        sys.stderr.write(self._warning)


def _tell_next_step(settings: Settings, path: Path) -> None:
    step = shlex.join([settings.command, "plan", str(path)])
    say(f"halo: the profile is in {path}")
    say(f"Next: {step}", whole=True)


def _warn_of_engine(producer: Producer, ending: Ending, target: Target, folder: Path) -> None:
    """Says what differs under the engine, if that may be why the program failed."""
    suspicion = producer.suspicion(ending, folder)
    if (ending.signal or ending.exit_status) and suspicion:
        how = _how(ending)
        print(f"halo: warning: {target.name} ended {how}; it {suspicion}.", file=sys.stderr)


def _how(ending: Ending) -> str:
    if ending.signal:
        return f"by signal {ending.signal}"
    return f"with status {ending.exit_status}"
