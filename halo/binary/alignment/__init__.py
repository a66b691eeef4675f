"""Proves from machine code that heap objects may be aligned to 8 bytes only (docs/alignment.md).

The ABI aligns objects of 16 bytes and more to 16 bytes. A 24-byte object at a multiple of eight is
harmless if no instruction of the process requires more. The proof covers each module of the process
and lists the instructions that the runtime has to relax.
"""

from halo.binary.alignment.model import CheckedModule, Proof, Relaxation, unproved
from halo.binary.alignment.process import prove_alignment
from halo.binary.alignment.survey_cache import is_stored

__all__ = ["CheckedModule", "Proof", "Relaxation", "is_stored", "prove_alignment", "unproved"]
