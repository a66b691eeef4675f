"""The compact form of a plan (docs/plan-format.md)."""

from halo.plan.compact.groups import group_flags
from halo.plan.compact.header import crc_of
from halo.plan.compact.reader import decode
from halo.plan.compact.writer import encode

__all__ = ["crc_of", "decode", "encode", "group_flags"]
