"""`halo record --hot-streams`: the sites of a list are found, and a trace has an end."""

from __future__ import annotations

from pathlib import Path

import pytest

from halo.plan.strategies.factory import make_grouping
from halo.record.profile import HOT_STREAMS, Profile, read_profile
from support.command import compile_c, halo
from support.recordings import tells_only_its_file

# Two lists, whose nodes two callers of malloc make alternately, with an unused third one.
LISTS = """
#include <stdlib.h>
struct Node { struct Node *next; long value[3]; };
static struct Node *make_a(void) { return malloc(sizeof(struct Node)); }
static struct Node *make_b(void) { return malloc(sizeof(struct Node)); }
__attribute__((noinline)) static void *make_unused(void) { return malloc(200); }
int main(void) {
  struct Node *list = NULL;
  for (int i = 0; i < 500; ++i) {
    struct Node *node = i % 2 ? make_a() : make_b();
    *(volatile char *)make_unused() = 1;
    node->next = list;
    list = node;
  }
  long sum = 0;
  for (int round = 0; round < 100; ++round)
    for (struct Node *node = list; node; node = node->next) sum += ++node->value[0];
  return sum == 0;
}
"""


def recorded(folder: Path, option: str) -> Profile:
    program = compile_c(LISTS, folder / "lists", "-fno-inline")
    output = str(folder / "lists.profile")
    outcome = halo("record", option, "-o", output, "--", str(program))
    assert outcome.status == 0 and tells_only_its_file(outcome.stderr, output)
    return read_profile(output)


def test_a_recording_finds_the_sites_of_the_list(tmp_path: Path) -> None:
    profile = recorded(tmp_path, "--hot-streams")
    streams = HOT_STREAMS.of(profile)
    assert streams is not None
    assert streams.references >= 500 * 100
    assert streams.covered >= 0.9 * streams.references
    assert streams.symbols < 10_000, "the grammar folds the rounds"
    (group,) = make_grouping(profile, "hot-streams", {}).groups
    assert len(group.contexts) == 2
    assert all(profile.contexts[at].max_size == 32 for at in group.contexts)


def test_a_trace_has_an_end(tmp_path: Path) -> None:
    streams = HOT_STREAMS.of(recorded(tmp_path, "--hot-streams=1000"))
    assert streams is not None
    assert streams.references == 1000
    assert streams.dropped >= 49_000


@pytest.mark.parametrize("number", ["0", "x", "-1", "2147483649"])
def test_a_length_that_no_trace_can_have_is_refused(number: str) -> None:
    outcome = halo("record", f"--hot-streams={number}", "--", "true")
    assert outcome.status == 111
    assert f"'{number}' is" in outcome.stderr
