"""All refusals and failures of halo: one class, one exit status, one sentence each.

The message of an exception is the sentence that the user reads; it names the cause and the remedy.
`docs/exit-status.md` documents the numbers. They are in 110-121 to differ from the exit status of
the program, which `halo record` and `halo exec` pass through.
"""

from __future__ import annotations

from typing import ClassVar


class HaloError(Exception):
    """A failure with a sentence for the user; not an internal error."""

    exit_status: ClassVar[int] = 110


class UsageError(HaloError):
    """The command line is wrong: an unknown option, a missing `--`, two different programs."""

    exit_status = 111


class CannotRun(HaloError):
    """The program cannot be started: it is missing, a directory, or not executable."""

    exit_status = 112


class Unsuitable(HaloError):
    """The program runs, but halo cannot place its objects: static, a script, a wrapper, ..."""

    exit_status = 113


class MissingPart(HaloError):
    """A required part is missing on this machine: an allocator, a part of halo's build."""

    exit_status = 114


class BadProfile(HaloError):
    """A profile is empty, cut short, damaged, of a newer version or not a profile at all."""

    exit_status = 115


class BadPlan(HaloError):
    """A plan is empty, cut short, damaged, of a newer version or made for another build."""

    exit_status = 116


class BadInput(HaloError):
    """Another input is invalid: a groups file, a strategy's option, a file that cannot be read."""

    exit_status = 117


class RecordingFailed(HaloError):
    """The program ran under the recorder or the detector without usable output."""

    exit_status = 118


class TrialFailed(HaloError):
    """A measured run crashed, failed, or its output differs from the first run under glibc."""

    exit_status = 119


class LitterFailed(HaloError):
    """A program ran on a heap that was not aged as requested, or only in part."""

    exit_status = 120


class BadTrace(HaloError):
    """A trace is empty, damaged, of a newer version or not a trace."""

    exit_status = 121
