"""The commands of `halo`: what a command is, and the list of them."""

from __future__ import annotations

import argparse
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
from halo.settings import Settings


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
