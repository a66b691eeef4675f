"""The interface of commands, and the lists of all commands and groups."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from halo.commands.bench import BenchCommand
from halo.commands.colours import ColoursCommand
from halo.commands.conflicts import ConflictsCommand
from halo.commands.corun import CorunCommand
from halo.commands.deploy import DeployCommand
from halo.commands.doctor import DoctorCommand
from halo.commands.eval.baseline import BaselineCommand
from halo.commands.eval.compare import CompareCommand
from halo.commands.eval.coverage import CoverageCommand
from halo.commands.eval.predict import PredictCommand
from halo.commands.eval.simulate import SimulateCommand
from halo.commands.exec import ExecCommand
from halo.commands.heap.age import AgeCommand
from halo.commands.heap.detect import DetectCommand
from halo.commands.heap.litter import LitterCommand
from halo.commands.hints import HintsCommand
from halo.commands.layout import LayoutCommand
from halo.commands.lifecycle.check import CheckCommand
from halo.commands.lifecycle.update import UpdateCommand
from halo.commands.locality import LocalityCommand
from halo.commands.merge import MergeCommand
from halo.commands.plan import PlanCommand
from halo.commands.plot import PlotCommand
from halo.commands.probe import ProbeCommand
from halo.commands.record import RecordCommand
from halo.commands.report import ReportCommand
from halo.commands.run import RunCommand
from halo.commands.trace.analyse import AnalyseCommand
from halo.commands.trace.convert import ConvertCommand
from halo.commands.trace.offenders import OffendersCommand
from halo.commands.trace.run import TraceRunCommand
from halo.commands.trace.sharing import SharingCommand
from halo.commands.trace.show import ShowCommand
from halo.commands.trace.split import SplitCommand
from halo.settings import Settings


class Command(Protocol):
    """A command: its name, one line of help, its options, and its action.

    `examples` are one or two command lines, as they would be typed.
    """

    name: str
    summary: str
    usage: str

    @property
    def examples(self) -> Sequence[str]: ...

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        """Does the work and returns the exit status; `rest` is all that follows the first `--`."""


@dataclass(frozen=True)
class Group:
    """Commands that are written `halo NAME COMMAND`."""

    name: str
    summary: str
    commands: Sequence[Command]


# To add a command, add its file and one line here, or in a group below.
COMMANDS: Sequence[Command] = (
    RunCommand(),
    BenchCommand(),
    ProbeCommand(),
    RecordCommand(),
    ConflictsCommand(),
    CorunCommand(),
    HintsCommand(),
    LayoutCommand(),
    LocalityCommand(),
    MergeCommand(),
    PlanCommand(),
    UpdateCommand(),
    ExecCommand(),
    DeployCommand(),
    CheckCommand(),
    ReportCommand(),
    PlotCommand(),
    DoctorCommand(),
    ColoursCommand(),
)

TRACE = Group(
    "trace",
    "Trace a program built with halo-cc or halo-c++, and analyse its trace.",
    (
        TraceRunCommand(),
        ShowCommand(),
        ConvertCommand(),
        OffendersCommand(),
        SharingCommand(),
        SplitCommand(),
        AnalyseCommand(),
    ),
)
HEAP = Group(
    "heap",
    "Run and measure a program on an aged heap.",
    (AgeCommand(), DetectCommand(), LitterCommand()),
)
EVAL = Group(
    "eval",
    "Measure allocators, strategies, simulated caches and predictors, without choosing a plan.",
    (BaselineCommand(), CompareCommand(), SimulateCommand(), PredictCommand(), CoverageCommand()),
)
GROUPS: Sequence[Group] = (TRACE, EVAL, HEAP)


def every_command() -> list[tuple[str, Command]]:
    """All commands, with the words that they are written by."""
    grouped = [(f"{group.name} {it.name}", it) for group in GROUPS for it in group.commands]
    return [(command.name, command) for command in COMMANDS] + grouped
