"""The inputs of a measurement, by their part in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from halo.measure.runs.job import Job


@dataclass(frozen=True)
class Inputs:
    """The jobs of one program.

    Plans are made from what the `recorded` ones do, merged. Allocators, settings and plans are
    compared on the `measured` one, and the answer is given on the `answered` one: the same, or one
    that no decision has seen. The choice must not be slower than no plan on the `others`.
    """

    recorded: Sequence[Job]
    measured: Job
    answered: Job
    others: Sequence[Job] = ()

    @property
    def all(self) -> list[Job]:
        """Each job once, the measured one first."""
        jobs = (self.measured, *self.recorded, *self.others, self.answered)
        return list(dict.fromkeys(jobs))

    @property
    def holds_out(self) -> bool:
        """Whether no decision has seen the input of the answer."""
        return self.answered not in (self.measured, *self.recorded, *self.others)

    def commands(self) -> dict[str, list[str]]:
        """The command of each part, by the names in a results file."""
        found = {"reference": self.answered.command, "train": self.recorded[0].command}
        if self.measured != self.answered:
            found["measured"] = self.measured.command
        return found | {f"train-{at}": job.command for at, job in enumerate(self.others, 2)}


def only(job: Job) -> Inputs:
    """One input for everything."""
    return Inputs([job], job, job)
