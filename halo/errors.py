"""Every way in which halo refuses or fails: one class, one exit status, one sentence each.

The message of an exception is the sentence the user sees; it names the cause and the way out.
`docs/exit-status.md` documents the numbers. They lie in 110-121 so that they can be told apart from
the exit status of the program that `halo record` and `halo exec` pass through.
"""

from __future__ import annotations

from typing import ClassVar


class HaloError(Exception):
    """A failure with a sentence for the user; not an accident inside halo."""

    exit_status: ClassVar[int] = 110


class UsageError(HaloError):
    """The command line is wrong: an unknown option, a missing `--`, two different programs."""

    exit_status = 111


class CannotRun(HaloError):
    """The program cannot be started: not there, a directory, not executable."""

    exit_status = 112


class Unsuitable(HaloError):
    """The program runs, but halo cannot place its objects: static, a script, a wrapper, ..."""

    exit_status = 113


class MissingPart(HaloError):
    """Something this machine needs is not there: QEMU, an allocator, a part of halo's build."""

    exit_status = 114


class BadProfile(HaloError):
    """A profile is empty, cut short, damaged, of a newer version or not a profile at all."""

    exit_status = 115


class BadPlan(HaloError):
    """A plan is empty, cut short, damaged, of a newer version or made for another build."""

    exit_status = 116


class BadInput(HaloError):
    """Another input is no good: a groups file, a strategy's option, a file that cannot be read."""

    exit_status = 117


class RecordingFailed(HaloError):
    """The program ran under the recorder or the detector but left nothing usable."""

    exit_status = 118


class TrialFailed(HaloError):
    """A measured run crashed, failed or gave another output than the first run under glibc."""

    exit_status = 119


class LitterFailed(HaloError):
    """A program ran, but on a heap that was not aged as was asked for, or only in part."""

    exit_status = 120


class BadTrace(HaloError):
    """A trace is empty, damaged, of a newer version or no trace."""

    exit_status = 121
