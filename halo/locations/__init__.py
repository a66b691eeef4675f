"""Finds in machine code where the fields of a new object come from.

The code behind an allocation stores values into the new object. At the call they are in registers,
in the caller's frame, or a few loads away. The analysis gives each as a program of a small grammar,
which the runtime executes at the allocation.
"""

from halo.locations.birth import BirthStore, BirthStores, birth_stores, value_at
from halo.locations.program import (
    Add,
    Combine,
    Constant,
    Convert,
    Extend,
    Frame,
    Image,
    Load,
    Operation,
    Program,
    Register,
    pack,
)

__all__ = [
    "Add",
    "BirthStore",
    "BirthStores",
    "Combine",
    "Constant",
    "Convert",
    "Extend",
    "Frame",
    "Image",
    "Load",
    "Operation",
    "Program",
    "Register",
    "birth_stores",
    "pack",
    "value_at",
]
