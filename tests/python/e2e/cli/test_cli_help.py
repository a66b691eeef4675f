"""Help in groups, examples that the parsers accept, and the nearest word for a misspelt one."""

from __future__ import annotations

import re
import shlex

import pytest

from halo.cli.main import build_parser, find_parser, split
from halo.cli.old_spellings import MOVED, REPLACED
from halo.cli.overview import EXAMPLES, START, sections
from halo.cli.registry import ALL, Command, every_command
from support.command import halo

EFFORT = "did you mean --effort thorough? See: halo"
NAMES = [member.name for member in ALL]
EVERY = pytest.mark.parametrize(
    ("words", "command"), every_command(), ids=[words for words, _ in every_command()]
)


def accept(line: str) -> Command:
    """The command that takes this command line; raises if a word of it is refused."""
    own, _ = split(shlex.split(line.partition(" | ")[0])[1:])
    parser = build_parser(own)
    leaf, behind = find_parser(parser, own)
    leaf.check_options(behind)
    options, extra = parser.parse_known_args(own)
    assert extra == []
    command: Command = options.implementation
    return command


@EVERY
def test_the_examples_of_a_command_are_command_lines_that_it_accepts(
    words: str, command: Command
) -> None:
    assert 1 <= len(command.examples) <= 2
    assert any(accept(line) is command for line in command.examples)
    for line in command.examples:
        accept(line)
        assert len(line) <= 78, "it would not fit a terminal"


@EVERY
def test_the_help_of_a_command_ends_with_its_examples(words: str, command: Command) -> None:
    outcome = halo(*words.split(), "--help", env={"COLUMNS": "60"})
    lines = outcome.stdout.splitlines()
    assert lines[-1 - len(command.examples) :] == [
        "For instance:",
        *(f"  {line}" for line in command.examples),
    ]


def test_the_overview_says_where_to_start() -> None:
    shown = halo("--help", env={"COLUMNS": "80"}).stdout
    places = [shown.index(f"\n{heading}:\n") for heading in sections(())]
    assert places == sorted(places)
    start = shown[places[0] : places[1]]
    for name in START:
        assert re.search(rf"^ +{name}\s", start, re.MULTILINE)
    for line in EXAMPLES:
        accept(line)
        assert f"\n  {line}\n" in shown


def test_every_command_is_in_one_section_of_the_overview() -> None:
    shown = [name for part in sections(NAMES).values() for name in part]
    assert sorted(shown) == sorted(NAMES)


def test_halo_help_is_the_same_as_the_option() -> None:
    for words in ([], ["run"], ["trace"], ["eval", "baseline"], ["baseline"], ["help"]):
        asked = halo("help", *words)
        assert asked.status == 0 and asked.stderr == ""
        assert asked.stdout == halo(*[w for w in words if w != "help"], "--help").stdout


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("rnu", "'rnu' is not a command of halo; did you mean run? See: halo --help"),
        ("help rnu", "did you mean run?"),
        ("hepl", "did you mean help"),
        (
            "trace ofenders x",
            "of halo study trace; did you mean offenders? See: halo study trace --help",
        ),
        ("offendrs x", "did you mean study trace offenders?"),
        ("convert x", "did you mean study trace convert?"),
        ("run --trial 3 -- a -- b", "option of halo run; did you mean --trials or --train? See"),
        (
            "eval baseline --jsn=x -- a",
            "--jsn is not an option of halo study eval baseline; did you",
        ),
        ("exec --plann p -- a", "did you mean --plan?"),
        ("--versoin", "did you mean --version?"),
        ("record --engine valgrnd -- a", "'valgrnd'; did you mean valgrind?"),
        *(
            (f"{name} {option} -- a", f"{option} is not an option of halo {name}; {EFFORT}")
            for name, options in REPLACED.items()
            for option in options
        ),
        ("run --conflict -- a", f"--conflict is not an option of halo run; {EFFORT}"),
        ("run -x -- a -- b", "-x is not an option of halo run; see: halo run --help"),
    ],
)
def test_a_misspelt_word_gets_the_nearest_known_one(line: str, sentence: str) -> None:
    outcome = halo(*line.split())
    assert outcome.status == 111
    assert sentence in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1
    assert "colours" not in outcome.stderr, "the list of all commands"


def test_a_word_like_no_command_gets_the_list() -> None:
    outcome = halo("xyzzy")
    assert outcome.status == 111
    for name in NAMES:
        assert re.search(rf"\b{name}\b", outcome.stderr)


@pytest.mark.parametrize("name", sorted(MOVED))
def test_an_old_spelling_with_a_slip_leads_to_the_present_one(name: str) -> None:
    assert " ".join(MOVED[name]) in halo(f"{name}e").stderr


@pytest.mark.parametrize("line", ["run ./prog 3", "run ./prog 3 -- ./prog 4"])
def test_a_program_before_the_dashes_gets_the_hint(line: str) -> None:
    outcome = halo(*line.split())
    assert outcome.status == 111
    assert "./prog 3 (a program to run goes after `--`); see: halo run --help" in outcome.stderr
    assert "`--`" not in halo("report", "a", "-x").stderr
