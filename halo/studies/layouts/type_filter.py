"""Which types of objects the access graph is of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TypeFilter:
    """The types of which the access graph is: those with these names, or the `top` with most
    allocations. If both are empty, it is of all objects (Miucin, section 3.5.4)."""

    names: tuple[str, ...] = ()
    top: int = 0


def parse_names(text: str) -> tuple[str, ...]:
    """Names that are separated by commas outside brackets, as types of C++ have commas in them."""
    names, depth = [""], 0
    for letter in text:
        depth += (letter in "<([") - (letter in ">)]")
        if letter == "," and depth == 0:
            names.append("")
        else:
            names[-1] += letter
    return tuple(name.strip() for name in names if name.strip())
