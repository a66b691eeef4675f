"""Shared by the input generators: a fixed seed, and words that look like words."""

from __future__ import annotations

import random
import sys
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
    """The same numbers on every machine and in every year."""
    return random.Random(f"halo {salt}")


def word(rng: random.Random) -> str:
    return "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(1, 4)))


def words(rng: random.Random, count: int) -> str:
    return " ".join(word(rng) for _ in range(count))


def folder() -> Path:
    """Where the inputs go: the only argument."""
    return Path(sys.argv[1])
