"""What halo needs to know about ELF files: build-ids, frame rules and names of code addresses.

Every address here is an ELF virtual address, that is, an offset from the module's load bias.
The parser is our own and small: it reads only the few call-frame records that are asked for,
so a file of a hundred megabytes costs no more than a small one.
"""

from halo.elf.build_id import build_id_of
from halo.elf.calls import why_not_redirected
from halo.elf.image import ElfError, ElfImage
from halo.elf.rules import FrameRule, FrameSurvey, RuleKind, frame_rule, survey
from halo.elf.symbols import CodeLocation, symbolize

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
