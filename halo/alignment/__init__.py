"""Whether heap objects may lie at multiples of eight: proved from the code of a program's modules.

`malloc` promises 16 bytes from 16 bytes up, and a 24-byte object at a multiple of eight breaks that
promise. It is harmless where no instruction of the process demands more: that is what is proved
here, module by module, with a list of the instructions to relax (docs/alignment.md).
"""

from halo.alignment.model import CheckedModule, Proof, Relaxation, unproved
from halo.alignment.process import prove_alignment

__all__ = ["CheckedModule", "Proof", "Relaxation", "prove_alignment", "unproved"]
