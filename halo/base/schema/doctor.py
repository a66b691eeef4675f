"""The document of `halo doctor`: what works on this machine and with a program."""

from __future__ import annotations

from msgspec import Struct

FORMAT, VERSION = "halo-doctor", 1


class ExaminedPart(Struct, frozen=True, kw_only=True):
    """A part of the machine, or a finding about the program."""

    what: str  # its name
    state: str  # `OK`, `missing`, `note`, `optional`, `info`; of a program `OK`, `note`, `no`
    sentence: str  # what was found
    remedy: str  # how to fix or to install it; empty if there is nothing to do


class DoctorDocument(Struct, frozen=True, kw_only=True):
    """The output of `halo doctor --json`."""

    format: str = FORMAT  # `halo-doctor`
    version: int = VERSION  # 1
    machine: tuple[ExaminedPart, ...]  # the parts of this machine
    program: str | None  # path of the examined program; `null` without one
    findings: tuple[ExaminedPart, ...]  # about the program
    status: int  # exit status of the command; 0 if all is well
