"""Plans that place the objects of some call sites by hints, and those of others in groups."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from support.command import halo

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
enum { kNodes = 20000, kOwners = 100 };
struct node { struct node* next; unsigned owner; unsigned check; double payload; double more[2]; };
struct item { struct item* next; long value; };
static unsigned next_owner(void) {
  static unsigned state = 1;
  state = state * 1664525 + 1013904223;
  return (state >> 16) % kOwners;
}
__attribute__((noinline)) static struct node* make(struct node* next, unsigned owner) {
  struct node* made = malloc(sizeof *made);
  if (made == NULL) abort();
  made->next = next;
  made->owner = owner;
  made->check = ~owner;
  made->payload = 1;
  return made;
}
__attribute__((noinline)) static struct item* item(struct item* next, long value) {
  struct item* made = malloc(sizeof *made);
  if (made == NULL) abort();
  made->next = next;
  made->value = value;
  return made;
}
int main(void) {
  static struct node* owned[kOwners];
  struct item* items = NULL;
  double sum = 0;
  for (unsigned at = 0; at < kNodes; ++at) {
    unsigned owner = next_owner();
    owned[owner] = make(owned[owner], owner);
    if (at % 2 == 0) items = item(items, 1);
  }
  for (int round = 0; round < 3; ++round) {
    for (unsigned owner = 0; owner < kOwners; ++owner)
      for (struct node* at = owned[owner]; at != NULL; at = at->next)
        sum += at->check == ~owner ? at->payload : 1e9;
    for (struct item* at = items; at != NULL; at = at->next) sum += (double)at->value;
  }
  printf("%.0f\\n", sum);
}
"""
RECORD = ("record", "--objects", "--contents", "-o", "app.profile", "--", "./app")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("app")
    command = ["gcc", "-O2", "-x", "c", "-", "-o", "app"]
    subprocess.run(command, cwd=folder, input=PROGRAM, text=True, check=True)
    done = halo(*RECORD, cwd=folder)
    assert done.status == 0, done.stderr
    return folder


def plan(folder: Path, strategy: str, *options: str) -> dict[str, object]:
    """The reviewable form of `folder`/app.plan, made with these options."""
    given = [word for option in options for word in ("--option", option)]
    done = halo("plan", "app.profile", "--strategy", strategy, *given, "-o", "app.plan", cwd=folder)
    assert done.status == 0, done.stderr
    found: dict[str, object] = json.loads((folder / "app.plan.json").read_text())
    return found


def test_call_sites_with_a_rule_leave_the_groups(recorded: Path) -> None:
    grouped, alone = plan(recorded, "dense"), plan(recorded, "hints")
    both = plan(recorded, "dense", "hints=true")
    assert "hints" not in grouped
    assert both["hints"] == alone["hints"]
    outcome = halo(
        *("exec", "--plan", "app.plan", "--", "./app"),
        cwd=recorded,
        env={"HALO_STATS": "stats.json"},
    )
    assert (outcome.status, outcome.stdout, outcome.stderr) == (0, "90000\n", "")
    stats = json.loads((recorded / "stats.json").read_text())
    assert (stats["hinted"], stats["unhinted"]) == (20000, 0)
    assert 10000 <= sum(group["allocations"] for group in stats["groups"]) < 10010


@pytest.mark.parametrize(
    ("strategy", "options"),
    [("random-pools", ["hints=true"]), ("dense", ["hints=true", "identification=selectors"])],
)
def test_plans_without_call_sites_refuse_hints(
    recorded: Path, strategy: str, options: list[str]
) -> None:
    given = [word for option in options for word in ("--option", option)]
    command = ("plan", "app.profile", "--strategy", strategy, *given, "-o", "new.plan")
    outcome = halo(*command, cwd=recorded)
    assert outcome.status == 117
    assert "Hints are served by call site" in outcome.stderr
    assert not (recorded / "new.plan").exists()


def test_candidates_of_run_have_hints_beside_groups(recorded: Path, tmp_path: Path) -> None:
    command = ("run", "--candidates", "none,hints-dense", "--trials", "1")
    where = ("--results", str(tmp_path / "results"))
    outcome = halo(*command, *where, "--", "./app", "--", "./app", "2", cwd=recorded)
    assert outcome.status in (0, 1), outcome.stderr
    assert list(tmp_path.rglob("hints-dense.plan"))
