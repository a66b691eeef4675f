"""The commands of `halo`: what a command is, the list of them, and how errors become statuses."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Protocol

from halo.commands.age import AgeCommand
from halo.commands.analyse import AnalyseCommand
from halo.commands.baseline import BaselineCommand
from halo.commands.bench import BenchCommand
from halo.commands.columns import ColumnsCommand
from halo.commands.detect import DetectCommand
from halo.commands.doctor import DoctorCommand
from halo.commands.evaluate import EvaluateCommand
from halo.commands.exec import ExecCommand
from halo.commands.litter import LitterCommand
from halo.commands.offenders import OffendersCommand
from halo.commands.plan import PlanCommand
from halo.commands.plot import PlotCommand
from halo.commands.probe import ProbeCommand
from halo.commands.record import RecordCommand
from halo.commands.report import ReportCommand
from halo.commands.run import RunCommand
from halo.commands.sharing import SharingCommand
from halo.commands.simulate import SimulateCommand
from halo.commands.split import SplitCommand
from halo.commands.trace import TraceCommand
from halo.errors import HaloError
from halo.settings import Settings

INTERRUPTED = 130
BROKEN_PIPE = 141


class Command(Protocol):
    """A command: its name, one line of help, its options, and what it does."""

    name: str
    summary: str
    usage: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        """Does the work and returns the exit status; `rest` is all that follows the first `--`."""


# To add a command, add its file and one line here.
COMMANDS: Sequence[Command] = (
    RunCommand(),
    BenchCommand(),
    RecordCommand(),
    PlanCommand(),
    ExecCommand(),
    SimulateCommand(),
    OffendersCommand(),
    SharingCommand(),
    AnalyseCommand(),
    BaselineCommand(),
    EvaluateCommand(),
    ProbeCommand(),
    PlotCommand(),
    ReportCommand(),
    SplitCommand(),
    DetectCommand(),
    AgeCommand(),
    LitterCommand(),
    ColumnsCommand(),
    TraceCommand(),
    DoctorCommand(),
)


def run_command(
    command: Command, settings: Settings, options: argparse.Namespace, rest: list[str]
) -> int:
    """The one place where a failure becomes a sentence on stderr and an exit status."""
    try:
        return command.run(settings, options, rest)
    except HaloError as error:
        return fail(error)
    except KeyboardInterrupt:
        print("halo: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; Python would complain again when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:
        if settings.debug:
            raise
        what = " ".join(f"{type(error).__name__}: {error}".split())
        return fail(HaloError(f"Unexpected {what}; set HALO_DEBUG=1 and repeat to see where."))


def fail(error: HaloError) -> int:
    """Prints the one sentence and returns the exit status."""
    print(f"halo: {' '.join(str(error).split())}", file=sys.stderr)
    return error.exit_status
