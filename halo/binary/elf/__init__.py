"""Reads ELF files: build-ids, frame rules and names of code addresses.

All addresses are ELF virtual addresses: offsets from the module's load bias. The parser reads only
the requested call-frame records, so a file of a hundred megabytes costs no more than a small one.
"""

from halo.binary.elf.build_id import build_id_of
from halo.binary.elf.calls import why_not_redirected
from halo.binary.elf.image import ElfError, ElfImage
from halo.binary.elf.rules import FrameRule, FrameSurvey, RuleKind, frame_rule, survey
from halo.binary.elf.symbols import CodeLocation, symbolize

__all__ = [
    "CodeLocation",
    "ElfError",
    "ElfImage",
    "FrameRule",
    "FrameSurvey",
    "RuleKind",
    "build_id_of",
    "frame_rule",
    "survey",
    "symbolize",
    "why_not_redirected",
]
