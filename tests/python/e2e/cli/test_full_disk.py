"""A disk without space costs one sentence: finished stages continue, and nothing else stays.

The limit is on the size of each file, as the kernel has it: the first larger one cannot be written.
"""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from halo.base.errors import BadInput
from halo.measure.candidates import make_plans
from halo.measure.deep.choice import choose_variants
from halo.plan import review_path
from support.command import Outcome, compile_c, halo
from support.samples.plan import Sample

QUIET = r"""
#include <stdlib.h>
struct node { struct node *next; long value[4]; };
int main(void) {
  long sum = 0;
  for (int round = 0; round < 20; ++round) {
    struct node *head = NULL;
    for (int i = 0; i < 20000; ++i) {
      struct node *made = malloc(sizeof *made);
      made->next = head;
      made->value[0] = i;
      head = made;
    }
    while (head) {
      struct node *gone = head;
      head = head->next;
      sum += gone->value[0];
      free(gone);
    }
  }
  return sum == 1;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("program")
    compile_c(QUIET, folder / "quiet")
    return str(folder / "quiet")


def limited(limit: int, *arguments: str, cwd: Path) -> Outcome:
    """halo with a limit in bytes; Python would write truncated bytecode under one."""
    before = ("prlimit", f"--fsize={limit}")
    return halo(*arguments, cwd=cwd, before=before, env={"PYTHONDONTWRITEBYTECODE": "1"})


@contextmanager
def file_limit(limit: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def commands(program: str) -> list[tuple[str, ...]]:
    return [
        ("run", "--trials", "1", "--", program, "--", program),
        ("eval", "baseline", "--trials", "1", "--", program),
        ("eval", "compare", "--trials", "1", "--", program, "--", program),
    ]


@pytest.mark.parametrize("number", range(3))
def test_no_space_for_the_first_stage_leaves_no_folder(
    program: str, tmp_path: Path, number: int
) -> None:
    outcome = limited(1, *commands(program)[number], cwd=tmp_path)
    assert outcome.status == 117
    assert outcome.stderr.splitlines()[-1].endswith(".json cannot be written: File too large.")
    assert "Traceback" not in outcome.stderr
    assert not any(tmp_path.iterdir())


def test_what_earlier_stages_finished_continues(program: str, tmp_path: Path) -> None:
    command = ("run", "--trials", "1", "--candidates", "everything", "--results", "out")
    programs = ("--", program, "--", program)
    outcome = limited(300, *command, *programs, cwd=tmp_path)
    assert outcome.status == 117
    assert "cannot be written: File too large." in outcome.stderr.splitlines()[-1]
    stored = tmp_path / "out" / "stages" / "allocator-rounds.json"
    content = stored.read_bytes()
    assert json.loads(content)["format"] == "halo-stage"
    names = {path.name for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert {name for name in names if not name.startswith("slices-")} == {stored.name}
    again = halo(*command, *programs, cwd=tmp_path)
    assert again.status == 0, again.stderr
    assert stored.read_bytes() == content


def test_plans_are_written_all_or_none(tmp_path: Path) -> None:
    """The larger plans do not fit, so none stays of those before them."""
    sample = Sample()
    for at in range(200):
        sample.add([16 * at + 16, 0x4000, 0x5000], accesses=1000 + at, allocations=50)
    profile = replace(sample.profile(), sections={})
    variants = [*choose_variants(["everything"]), *choose_variants(["dense"])]
    whole, part = tmp_path / "whole", tmp_path / "part"
    whole.mkdir()
    part.mkdir()
    made = make_plans(profile, variants, whole)
    sizes = [review_path(path).stat().st_size for _, path, _ in made]
    limit = max(sizes) - 1
    assert sizes[0] < limit, "plans before it fit"
    with file_limit(limit), pytest.raises(BadInput, match="cannot be written: File too large"):
        make_plans(profile, variants, part)
    assert not any(part.iterdir())


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("run", "--bogus", "--", "true", "--", "true"), 111),
        (("run", "--candidates", "bogus", "--", "true", "--", "true"), 111),
        (("run", "--cpu", "99999", "--", "true", "--", "true"), 111),
        (("run", "--results", "out", "--", "nowhere", "--", "nowhere"), 112),
        (("run", "--results", "out", "--", "make", "--", "make"), 113),
        (("run", "--results", "out", "--", "false", "--", "false"), 119),
        (("eval", "baseline", "--", "false"), 119),
        (("eval", "compare", "--", "false", "--", "false"), 119),
        (("probe", "--", "false"), 119),
        (("heap", "age", "--", "false"), 119),
        (("bench", "bogus"), 111),
    ],
)
def test_a_refused_attempt_leaves_no_folder(
    tmp_path: Path, arguments: tuple[str, ...], status: int
) -> None:
    outcome = halo(*arguments, cwd=tmp_path)
    assert outcome.status == status, outcome.stderr
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["eval baseline", "heap age"])
def test_a_failed_run_leaves_the_folder_of_the_user(tmp_path: Path, command: str) -> None:
    (tmp_path / "r 4").mkdir()
    outcome = halo(*command.split(), "--results", "r 4", "--", "false", cwd=tmp_path)
    assert outcome.status == 119, outcome.stderr
    assert list(tmp_path.iterdir()) == [tmp_path / "r 4"]
    assert not any((tmp_path / "r 4").iterdir())


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_an_output_that_the_sentence_cannot_quote_is_kept(tmp_path: Path, stream: str) -> None:
    long = f"import sys; print('no\\n' * 999, file=sys.{stream}); sys.exit(3)"
    outcome = halo("study", "eval", "baseline", "--", "/usr/bin/python3", "-c", long, cwd=tmp_path)
    assert outcome.status == 119
    (kept,) = tmp_path.glob(f"results/*/*.{stream}")
    assert "no" in kept.read_text()
    assert str(kept.parent) in outcome.stderr
