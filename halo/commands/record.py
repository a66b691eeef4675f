"""`halo record`: runs a program under the recorder and writes a profile."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from halo.commands.program import positive, the_program, warn_of_deep_binding
from halo.errors import BadInput, HaloError, RecordingFailed, UsageError
from halo.foreground import Ending, end_like
from halo.outcome import say
from halo.producers.producer import Producer
from halo.producers.qemu import QemuProducer
from halo.producers.registry import PRODUCERS, find_producer
from halo.progress import ProgressLines
from halo.recording import LONGEST_TRACE, MOST_REFERENCES, Limits, Recording, workspace
from halo.settings import Settings
from halo.target import Target, find_target

if TYPE_CHECKING:
    from halo.trials.process_watch import Seen

SLOWDOWN = 30  # of a program that QEMU's recorder emulates, about


class RecordCommand:
    name = "record"
    summary = "Run a program under the recorder and write a profile."
    usage = (
        "halo record [--producer NAME] [-o PROFILE] [--distance BYTES] [--max-object BYTES]"
        " [--hot-streams[=REFERENCES]] -- PROG ARGS | --trace TRACE"
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--producer",
            choices=[producer.name for producer in PRODUCERS],
            metavar="NAME",
            help="; ".join(f"{producer.name}: {producer.summary}" for producer in PRODUCERS)
            + f" (default: {PRODUCERS[0].name})",
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
        from halo.planning import check_place
        from halo.trials.process_watch import ProcessWatch
        from halo.trials.wrappers import refuse_known_starter, refuse_known_wrapper

        limits = Limits(options.distance, options.max_object, options.hot_streams)
        if options.trace is not None:
            return self._stored(settings, options, limits, rest)
        name, arguments = the_program(rest, self.name)
        target = find_target(name, settings.environment)
        path = options.output or Path(f"{target.path.name}.profile")
        check_place(path)
        refuse_known_wrapper(target, arguments, settings.environment)
        refuse_known_starter(target)
        warn_of_deep_binding(settings, target.path)
        producer = find_producer(options.producer or PRODUCERS[0].name)
        emulated = producer.name == QemuProducer.name
        mark = settings.recorder.name if emulated else ""
        watching = ProcessWatch(os.getpid(), target.path, mark, settings.tracer)
        with workspace() as folder, watching as watch:
            progress = ProgressLines(folder / "progress")
            recording = producer.record(settings, target, arguments, limits, folder, progress.tick)
            self._judge_work(target, watch.seen.slowed(SLOWDOWN if emulated else 1))
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
        from halo.planning import check_place, merge_recording
        from halo.producers.llvm import LlvmProducer, profile_of

        if rest:
            raise UsageError("Give either a program to run or --trace TRACE, not both.")
        if options.producer not in (None, LlvmProducer.name):
            raise UsageError(
                f"--trace runs nothing, so --producer {options.producer} means nothing."
            )
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


def _references(text: str) -> int:
    value = positive(text)
    if value > MOST_REFERENCES:
        raise argparse.ArgumentTypeError(f"'{text}' is more than {MOST_REFERENCES}")
    return value


def _how(ending: Ending) -> str:
    if ending.signal:
        return f"by signal {ending.signal}"
    return f"with status {ending.exit_status}"
