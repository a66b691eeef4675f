"""`halo record`: runs a program under the recorder and writes a profile."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from halo.commands.program import deep_binding_warning, positive, the_program
from halo.errors import BadInput, HaloError, RecordingFailed, UsageError
from halo.foreground import Ending, end_like
from halo.outcome import say
from halo.producers.producer import Job, Producer
from halo.producers.registry import PRODUCERS, find_producer
from halo.producers.running import record
from halo.progress import ProgressLines
from halo.recording import LONGEST_TRACE, MOST_REFERENCES, Limits, Recording, workspace
from halo.settings import Settings
from halo.target import Target, find_target

if TYPE_CHECKING:
    from halo.trials.process_watch import Seen


class RecordCommand:
    name = "record"
    summary = "Run a program under the recorder and write a profile."
    usage = (
        "halo record [--engine NAME] [-o PROFILE] [--distance BYTES] [--max-object BYTES]"
        " [--exact] [--hot-streams[=REFERENCES]] -- PROG ARGS | --trace TRACE"
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--engine",
            "--producer",
            choices=[producer.name for producer in PRODUCERS],
            metavar="NAME",
            help="; ".join(f"{producer.name}: {producer.summary}" for producer in PRODUCERS)
            + " (default: the first that works here)",
        )
        parser.add_argument(
            "--trace",
            type=Path,
            metavar="TRACE",
            help="run nothing: make a profile of a stored trace (docs/tracing.md)",
        )
        parser.add_argument(
            "-o", "--output", type=Path, metavar="PROFILE", help="default: PROG.profile, here"
        )
        parser.add_argument(
            "--distance",
            type=positive,
            default=128,
            metavar="BYTES",
            help="affinity distance (default: %(default)s)",
        )
        parser.add_argument(
            "--max-object",
            type=positive,
            default=4096,
            metavar="BYTES",
            help="largest object that is followed (default: %(default)s)",
        )
        parser.add_argument(
            "--exact",
            action="store_true",
            help="record all accesses, where the producer would record bursts of them",
        )
        parser.add_argument(
            "--hot-streams",
            type=_references,
            nargs="?",
            const=LONGEST_TRACE,
            default=0,
            metavar="REFERENCES",
            help="also find hot data streams, in a trace of at most so many references"
            " (%(const)s), for the strategy of that name",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.destination import check_place
        from halo.trials.process_watch import ProcessWatch
        from halo.trials.wrappers import refuse_known_starter, refuse_known_wrapper

        limits = Limits(
            options.distance, options.max_object, options.hot_streams, exact=options.exact
        )
        if options.trace is not None:
            return self._stored(settings, options, limits, rest)
        name, arguments = the_program(rest, self.name)
        target = find_target(name, settings.environment)
        path = options.output or Path(f"{target.path.name}.profile")
        check_place(path)
        refuse_known_wrapper(target, arguments, settings.environment)
        refuse_known_starter(target)
        producer = find_producer(settings, options.engine)
        watching = ProcessWatch(os.getpid(), target.path, producer.mark(settings), settings.tracer)
        with workspace() as folder, watching as watch:
            progress = ProgressLines(folder / "progress")
            job = Job(target, arguments, limits)
            meanwhile = Meanwhile(settings, target)
            recording = record(producer, settings, job, folder, progress.tick)
            meanwhile.end()
            self._judge_work(target, watch.seen.slowed(producer.slowdown, producer.start_seconds))
            self._save(producer, recording, target, arguments, path)
        if recording.parts and sys.stderr.isatty():
            step = shlex.join([settings.command, "plan", str(path)])
            say(f"halo: the profile is in {path}. Next: {step}")
        return end_like(recording.ending)

    def _judge_work(self, target: Target, seen: Seen) -> None:
        """A profile of a program that only executes another one says nothing."""
        from halo.trials.process_watch import refuse_wrapper, remark_others

        refuse_wrapper(target.name, seen)
        remark = remark_others(target.name, seen)
        if remark:
            print(f"halo: warning: {remark}", file=sys.stderr)

    def _stored(
        self, settings: Settings, options: argparse.Namespace, limits: Limits, rest: list[str]
    ) -> int:
        from halo.destination import check_place
        from halo.planning import merge_recording
        from halo.producers.llvm import LlvmProducer, profile_of

        if rest:
            raise UsageError("Give either a program to run or --trace TRACE, not both.")
        if options.engine not in (None, LlvmProducer.name):
            raise UsageError(f"--trace runs nothing, so --engine {options.engine} means nothing.")
        path = options.output or Path(f"{options.trace.name}.profile")
        check_place(path)
        with workspace() as folder:
            stored = profile_of(settings, options.trace, limits, folder)
            merge_recording([stored.part], stored.program, stored.arguments, path)
        return 0

    def _save(
        self,
        producer: Producer,
        recording: Recording,
        target: Target,
        arguments: list[str],
        path: Path,
    ) -> None:
        """Writes the profile; the program's own death comes before a complaint about it."""
        from halo.planning import merge_recording

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
            merge_recording(recording.parts, target.path, arguments, path)
        except BadInput:
            raise
        except HaloError as error:
            raise RecordingFailed(f"The recording of {target.name} is unusable: {error}") from error


class Meanwhile:
    """What can be done while the program runs: a look at its libraries, and loading our own code
    that merges the parts."""

    def __init__(self, settings: Settings, target: Target) -> None:
        self._warning = ""
        self._thread = Thread(target=self._work, args=(settings, target), daemon=True)
        self._thread.start()

    def _work(self, settings: Settings, target: Target) -> None:
        self._warning = deep_binding_warning(settings, target.path)
        import_module("halo.planning")

    def end(self) -> None:
        """Prints what was found."""
        self._thread.join()
        sys.stderr.write(self._warning)


def _references(text: str) -> int:
    value = positive(text)
    if value > MOST_REFERENCES:
        raise argparse.ArgumentTypeError(f"'{text}' is more than {MOST_REFERENCES}")
    return value


def _how(ending: Ending) -> str:
    if ending.signal:
        return f"by signal {ending.signal}"
    return f"with status {ending.exit_status}"
