"""`--json -`: standard output is one JSON document, and all else is on standard error."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from halo.cli.main import build_parser
from halo.cli.registry import every_command
from support.command import compile_c, halo

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; long value; };
int main(int argc, char **argv) {
  struct node *first = NULL;
  for (int i = 0; i < 20000; i++) {
    struct node *node = malloc(sizeof *node);
    node->next = first;
    node->value = i;
    first = node;
  }
  long sum = 0;
  for (int pass = 0; pass < atoi(argv[1]); pass++)
    for (struct node *at = first; at; at = at->next) sum += at->value;
  printf("the program says %ld\\n", sum);
}
"""
PROGRAM = ("--", "./prog", "30")
# All other commands with --json, and why each is not run here: the same code writes its document.
NOT_RUN = {
    "bench": "as run, and its programs take minutes",
    "study colours": "needs a kernel that reports page frames",
    "study hints": "needs a trace by halo-cc, and learns for a minute",
    "study heap age": "as eval baseline, for every heap",
    "check": "see test_check.py",
    "merge": "see test_merge.py",
    "study trace offenders": "writes by itself, see test_analyses_commands.py",
    "study trace sharing": "as trace offenders",
    "study trace split": "as trace offenders",
    "study trace analyse": "as trace offenders",
}
RUN = {
    "run": ("--trials", "1", "--candidates", "dense", *PROGRAM, *PROGRAM),
    "probe": ("--seconds", "1", *PROGRAM),
    "study eval baseline": ("--trials", "1", *PROGRAM),
    "study eval simulate": PROGRAM,
    "study eval coverage": ("prog.profile", "prog.profile"),
    "study eval predict": ("prog.profile", "prog.plan"),
    "study conflicts": ("prog.profile",),
    "study corun": ("--machine", "e7420-prefetching", "--seeds", "1", *PROGRAM, *PROGRAM),
    "doctor": PROGRAM,
    "study layout": PROGRAM,
    "study locality": PROGRAM,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("json")
    compile_c(SOURCE, found / "prog")
    recorded = halo("record", "--objects", "--conflicts", "-o", "prog.profile", *PROGRAM, cwd=found)
    assert recorded.status == 0, recorded.stderr
    assert halo("plan", "--strategy", "dense", "prog.profile", cwd=found).status == 0
    return found


def json_action(words: str) -> argparse.Action | None:
    parser = build_parser(words.split())
    for word in words.split():
        parser = parser.children[word]
    return parser._option_string_actions.get("--json")


def test_every_command_with_json_takes_standard_output() -> None:
    having = {words: action for words, _ in every_command() if (action := json_action(words))}
    assert set(having) == set(RUN) | set(NOT_RUN)
    for words, action in having.items():
        assert "- for standard output" in (action.help or ""), words


@pytest.mark.parametrize("words", sorted(RUN))
def test_standard_output_is_the_document_alone(words: str, folder: Path) -> None:
    outcome = halo(*words.split(), "--json", "-", *RUN[words], cwd=folder)
    document = json.loads(outcome.stdout)
    assert isinstance(document, dict) and document
    assert not (folder / "-").exists()
    assert outcome.status in (0, 1, 2), outcome.stderr
    assert outcome.stderr, "what else there is to say"


def test_a_failure_leaves_standard_output_empty(folder: Path) -> None:
    outcome = halo("study", "conflicts", "--json", "-", "missing.profile", cwd=folder)
    assert (outcome.status, outcome.stdout) == (115, "")


def test_a_reader_that_is_gone_has_its_status(folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "halo", "conflicts", "--json", "-", "prog.profile"]
    done = subprocess.run(
        command, cwd=folder, stdout=writing, stderr=subprocess.PIPE, check=False, timeout=60
    )
    os.close(writing)
    assert done.returncode == 141
    assert b"Traceback" not in done.stderr


def test_a_closed_standard_output_is_said(folder: Path) -> None:
    script = f"{sys.executable} -m halo study conflicts --json - prog.profile >&-"
    done = subprocess.run(
        ["sh", "-c", script], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 117
    assert "standard output" in done.stderr and "Unexpected" not in done.stderr
