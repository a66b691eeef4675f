"""No file uses a retired word: code, messages and docs have the vocabulary of the glossary."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from support.command import REPOSITORY

SOURCES = ("src", "halo", "scripts", "bench", "fuzz", "tests", "docs")
EVERYWHERE = (*SOURCES, "README.md", "Makefile", "CMakeLists.txt")


class Retired(NamedTuple):
    """A regular expression of words, and their replacement.

    Words are in lower case with single spaces, as `normalised` makes them of prose and identifiers.
    """

    words: str
    replacement: str


KEPT = "(?!longer|more|less|fewer|such|other|absent|address|tail)"
RETIRED = [
    Retired("in turns", "interleaved"),
    Retired("heeds?|heeded", "accepts, uses"),
    Retired("an accident", "an internal error"),
    Retired("mends?|mended|mending", "fix"),
    Retired("crews?", "worker pool"),
    Retired("cares? where", "placement-sensitive"),
    Retired("bars? (?:is|are) (?:met|missed)", "threshold"),
    Retired("tidy axes", "style axes"),
    Retired("(?<!--)(?:contenders?|entrants?)", "configuration"),
    Retired("untidy|tidied", "needs coalescing, coalesced"),
    Retired("g[ai]ven? back|gives back|giving back", "purge, free, release, return"),
    Retired("look(?:s|ed|ing)? at", "inspects, checks, reads"),
    Retired("so many", "the number of"),
    Retired("whoever", "any caller, any thread"),
    Retired(r"(?<!reuid\s)(?<!chown\s)nobody|somebody", "no thread, a program"),
    Retired("anew", "again"),
    Retired("for people|to people", "human-readable"),
    Retired("at hand", "available"),
    Retired("set against", "compared with"),
    Retired("made (?:events|stacks?)|made up(?! of)", "synthetic"),
    Retired("(?:the )?four allocators", "the baseline allocators"),
    Retired("whole job", "record, plan, choose and measure"),
    Retired(rf"(?<!there\s)is no {KEPT}[a-z]+", "is not a"),
    Retired(rf"(?<!there\s)are no {KEPT}[a-z]+", "are not"),
]
BOUND = re.compile(
    r"(?<!\w)_?(?:most|least|fewest|MOST|LEAST|FEWEST)_(?!visited)\w+|\bk(?:Most|Least|Fewest)[A-Z]"
)
"""Identifiers of bounds, which begin with max or min."""
NOUNS = {"binding", "drawing", "everything", "finding", "grouping", "planning", "ranking"}
NOUNS |= {"recording", "sampling", "sharing", "tracing"}
"""Last words of names of modules of halo that end like gerunds."""

EXEMPT = {
    "halo/cli/old_spellings.py",
    "halo/report/results/migration.py",
    "bench/programs/inputs/povray.py",  # POV-Ray's keyword look_at
    "tests/python/unit/report/results/test_results_reading.py",  # of files in the old format
    Path(__file__).relative_to(REPOSITORY).as_posix(),
}
DATA = (".json", ".svg", ".png", ".xml", ".csv")

GAP = r"""[\s/#*"'-]+(?:f["'])?\s*"""
"""Between two words: also a line's end with the marks of a comment or a string."""


def normalised(text: str) -> str:
    """The text in lower case, its identifiers split into words; lines stay lines."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).replace("_", " ").lower()


def pattern(*words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(words).replace(' ', GAP)})\b")


ANY = pattern(*(retired.words for retired in RETIRED))
TABLE = [(retired, pattern(retired.words)) for retired in RETIRED]


def tracked_files() -> list[str]:
    command = ["git", "-C", str(REPOSITORY), "ls-files", "-z", "--", *EVERYWHERE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("this is not a checkout")
    names = [name for name in done.stdout.split("\0") if name and not name.endswith(DATA)]
    return [name for name in names if name not in EXEMPT and (REPOSITORY / name).is_file()]


def findings(name: str, text: str) -> list[str]:
    """A sentence for each retired word in a file or in its name."""
    found = []
    plain = normalised(f"{name}\n{text}")
    for match in ANY.finditer(plain):
        place = f"{name}:{plain.count(chr(10), 0, match.start())}"
        for retired, regex in TABLE:
            if regex.match(plain, match.start()):
                found.append(f"{place}: '{match[0]}' is retired: {retired.replacement}")
    found += [f"{name}: '{match[0]}' is retired: max or min" for match in BOUND.finditer(text)]
    return found


def test_no_file_uses_a_retired_word() -> None:
    found = []
    for name in tracked_files():
        found += findings(name, (REPOSITORY / name).read_text("utf-8", "replace"))
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "It heeds three options.",
        "heed_options = 3",
        "kHeeds",
        "takesHeed(options)",
        "# Trials are in\n    # turns.",
        '"Trials are in"\n    f" turns."',
        "// Trials are in\n  // turns.",
        "_least_hole = 3",
        "MOST_SITES",
        "kMostRows",
        "the contenders' times",
    ],
)
def test_words_are_found_in_prose_and_in_identifiers(text: str) -> None:
    assert len(findings("halo/cli/main.py", text)) == 1


@pytest.mark.parametrize(
    "text",
    ["the amendment", "within turns", "scarecrew", "at_least_once", "almost_done", "--contenders"],
)
def test_parts_of_words_are_none(text: str) -> None:
    assert findings("halo/cli/main.py", text) == []


def test_a_word_is_refused_in_file_names() -> None:
    assert findings("scripts/nobody.sh", "")


def test_modules_have_nouns_as_names() -> None:
    names = {path.stem for path in (REPOSITORY / "halo").rglob("*.py")}
    assert {name.split("_")[-1] for name in names if name.endswith("ing")} <= NOUNS
    assert names.isdisjoint({"shown", "inside", "left"})
