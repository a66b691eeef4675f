"""Shared by the input generators: fixed seeds, pronounceable words, and a file for each role."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

SYLLABLES = (
    "ba",
    "de",
    "fi",
    "go",
    "lu",
    "ma",
    "ne",
    "pi",
    "ro",
    "su",
    "ta",
    "ve",
    "wi",
    "kra",
    "ste",
)


def generator(salt: str) -> random.Random:
    """A generator of the same numbers on every machine and Python version."""
    return random.Random(f"halo {salt}")


def word(rng: random.Random) -> str:
    return "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(1, 4)))


def words(rng: random.Random, count: int) -> str:
    return " ".join(word(rng) for _ in range(count))


def folder() -> Path:
    """The folder for the inputs, which is the only argument."""
    return Path(sys.argv[1])


def write_roles(
    salt: str, extension: str, make: Callable[[random.Random, int], str], small: int, large: int
) -> None:
    """Writes train of the small size, valid and ref of the large one, each by its own seed."""
    for role, size in (("train", small), ("valid", large), ("ref", large)):
        text = make(generator(f"{salt} {role}"), size)
        (folder() / f"{role}.{extension}").write_text(text)
