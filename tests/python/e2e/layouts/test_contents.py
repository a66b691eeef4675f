"""Contents of objects in an object trace are what the program stored in them."""

from __future__ import annotations

import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from halo.layouts.contents_file import Contents
from halo.layouts.contents_format import CONTENTS_WORDS
from halo.layouts.recording import Run, record_objects
from halo.layouts.replays import contents_of
from halo.process.target import find_target
from halo.recording.parts import workspace
from halo.recording.registry import find_producer
from halo.settings import read_settings
from support.command import compile_c, halo

KEPT, SHORT, THREADS = 100, 50, 2

PROGRAM = f"""
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
enum {{ KEPT = {KEPT}, SHORT = {SHORT}, THREADS = {THREADS} }};
struct item {{ uint64_t tag; double weight; int32_t small; float real; struct item *self; }};
static void fill(struct item *one, uint64_t tag) {{
  one->tag = tag; one->weight = tag * 0.5; one->small = -(int32_t)tag; one->real = tag + 0.25f;
  one->self = one;
}}
static struct item *kept[KEPT];
static void *work(void *argument) {{
  for (uint64_t at = 0; at < KEPT; ++at) {{
    struct item *one = malloc(sizeof *one);
    fill(one, 1000 * (uint64_t)argument + at);
  }}
  return NULL;
}}
int main(void) {{
  for (uint64_t at = 0; at < KEPT; ++at) fill(kept[at] = malloc(sizeof *kept[at]), at);
  for (uint64_t at = 0; at < KEPT; ++at) kept[at]->tag = 0;
  for (uint64_t at = 0; at < SHORT; ++at) {{
    struct item *one = calloc(1, sizeof *one);
    fill(one, 500 + at);
    free(one);
  }}
  pthread_t threads[THREADS + 1];
  for (uint64_t at = 1; at <= THREADS; ++at) pthread_create(threads + at, NULL, work, (void *)at);
  for (uint64_t at = 1; at <= THREADS; ++at) pthread_join(threads[at], NULL);

  char *text = malloc(5);
  memcpy(text, "hello", 5);
  free(text);
  uint64_t *page = malloc(4096);
  for (uint64_t at = 0; at < 512; ++at) page[at] = at << 40;
  free(page);
  uint64_t *larger = malloc(4104);
  larger[0] = 0xBAD;
  free(larger);
  uint64_t *grown = malloc(2 * sizeof *grown);
  grown[0] = 0xA0; grown[1] = 0xA1;
  grown = realloc(grown, 6 * sizeof *grown);
  for (uint64_t at = 1; at < 6; ++at) grown[at] = 0xB0 + at;
  free(grown);
}}
"""


def build(source: str, folder: Path) -> Path:
    """The program; the compiler must not leave out allocations whose contents it finds unused."""
    return compile_c(source, folder / "prog", "-fno-builtin", "-fno-allocation-dce", "-pthread")


@dataclass(frozen=True)
class Recorded:
    folder: Path

    def contents(self, program: Path, wanted: bool = True) -> Contents:
        settings = read_settings()
        run = Run(find_target(str(program), settings.environment), [], contents=wanted)
        trace = self.folder / "kept.objects"
        with workspace() as folder:
            record_objects(find_producer(settings, everything=True), settings, run, trace, folder)
        return contents_of(settings, trace, self.folder)


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


def rows_of(contents: Contents, size: int) -> list[tuple[int, tuple[int, ...]]]:
    """The address and the words of each object of that size."""
    found = []
    for at in range(len(contents.numbers)):
        words = [int(word) for word in contents.words[at]]
        count = int(contents.counts[at])
        assert not any(words[count:])
        if contents.sizes[at] == size:
            found.append((int(contents.addresses[at]), tuple(words[:count])))
    return found


def item(tag: int, address: int) -> tuple[int, ...]:
    return struct.unpack("<4Q", struct.pack("<QdifQ", tag, tag * 0.5, -tag, tag + 0.25, address))


def test_contents_are_what_the_program_stored(recorded: Recorded) -> None:
    contents = recorded.contents(build(PROGRAM, recorded.folder))
    tags = set()
    for address, words in rows_of(contents, 32):
        assert words == item(words[0], address)
        tags.add(words[0])
    # The last object of a call site in a thread has none, unless that thread frees it.
    expected = {*range(KEPT - 1), *range(500, 500 + SHORT)}
    for thread in range(1, THREADS + 1):
        expected |= set(range(1000 * thread, 1000 * thread + KEPT - 1))
    assert expected == tags
    assert len(set(contents.numbers.tolist())) == len(contents.numbers)
    assert [words for _, words in rows_of(contents, 5)] == [(int.from_bytes(b"hello", "little"),)]
    [(_, page)] = rows_of(contents, 4096)
    assert page == tuple(at << 40 for at in range(CONTENTS_WORDS))
    assert not rows_of(contents, 4104), "larger objects are not tracked"
    assert [words for _, words in rows_of(contents, 16)] == [(0xA0, 0xA1)]
    assert [words for _, words in rows_of(contents, 48)] == [(0xA0, *range(0xB1, 0xB6))]


def test_without_the_option_there_are_none(recorded: Recorded) -> None:
    program = build(PROGRAM, recorded.folder)
    assert len(recorded.contents(program, wanted=False).numbers) == 0


UNMAPPED = """
#include <pthread.h>
#include <stdlib.h>
#include <malloc.h>
static long *shared;
static void *release(void *unused) { free(shared); malloc_trim(0); return NULL; }
static long *make(size_t size) { return malloc(size); }
int main(void) {
  mallopt(M_MMAP_THRESHOLD, 2048);
  for (int at = 0; at < 100; ++at) {
    shared = make(at % 2 ? 4096 : 24);
    *shared = at;
    pthread_t thread;
    pthread_create(&thread, NULL, release, NULL);
    pthread_join(thread, NULL);
  }
  return 0;
}
"""


def test_objects_that_another_thread_frees_or_unmaps(recorded: Recorded) -> None:
    program = build(UNMAPPED, recorded.folder)
    contents = recorded.contents(program)
    assert not rows_of(contents, 4096) and not rows_of(contents, 24)


def test_halo_record_keeps_contents(tmp_path: Path) -> None:
    program = build(PROGRAM, tmp_path)
    profile = tmp_path / "prog.profile"
    command = ("record", "--objects", "--contents", "-o", str(profile), "--", str(program))
    outcome = halo(*command)
    assert outcome.status == 0, outcome.stderr
    [trace] = tmp_path.glob("*.objects")
    assert len(rows_of(contents_of(read_settings(), trace, tmp_path), 32)) > KEPT


def test_contents_need_an_object_trace_and_another_engine(tmp_path: Path) -> None:
    outcome = halo("record", "--contents", "--", "/bin/true", cwd=tmp_path)
    assert outcome.status == 111
    assert "--contents needs --objects." in outcome.stderr
    (tmp_path / "trace").write_bytes(b"")
    options = ("--objects", "--contents", "--trace", "trace")
    outcome = halo("record", *options, cwd=tmp_path)
    assert outcome.status == 111
    assert "llvm does not record contents" in outcome.stderr


def test_a_file_that_exists_is_not_overwritten(recorded: Recorded) -> None:
    recorded.contents(build(PROGRAM, recorded.folder))
    kept = recorded.folder / "mine"
    kept.write_text("mine")
    trace = recorded.folder / "kept.objects"
    command = [str(read_settings().replayer), f"--contents={kept}", str(trace)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.startswith("halo-layout: ")
    assert kept.read_text() == "mine"
