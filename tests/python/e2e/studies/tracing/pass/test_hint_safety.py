"""Programs that hints must not change: what they compute, and what they are told."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from support.hinted import (
    BY_KEY,
    CC,
    CXX,
    CXX_LIST,
    HEAD,
    LIST,
    MAKE,
    PLACE,
    SUM,
    built,
    compile_with,
    is_rewritten,
    output,
)


@pytest.mark.parametrize("options", [("-O0",), ("-O1",), ("-O2",), ("-O3",), ("-O2", "-flto")])
def test_objects_keep_their_contents(tmp_path: Path, options: tuple[str, ...]) -> None:
    built(tmp_path, {"program.c": HEAD + MAKE + LIST}, *options)
    assert is_rewritten(tmp_path)
    assert output(tmp_path) == SUM


@pytest.mark.parametrize("options", [("-O1",), ("-O3",), ("-O2", "-flto")])
def test_objects_of_cxx_keep_their_contents(tmp_path: Path, options: tuple[str, ...]) -> None:
    built(tmp_path, {"program.cc": CXX_LIST + '  std::puts("1");\n}\n'}, *options, compiler=CXX)
    assert is_rewritten(tmp_path)
    assert output(tmp_path) == "1\n"


def test_refused_memory_is_told_as_before(tmp_path: Path) -> None:
    program = """
#include <cstdio>
#include <new>
#include <sys/resource.h>
struct node {
  node(node* n, unsigned k) : next(n), key(k) {}
  node* next;
  unsigned key;
  char more[1000];
};
int main() {
  const rlimit limit = {64 << 20, 64 << 20};
  setrlimit(RLIMIT_AS, &limit);
  node* first = nullptr;
  unsigned long count = 0;
  try {
    for (;; ++count) first = new node(first, count % 10);
  } catch (const std::bad_alloc&) {
  }
  while (first) {
    node* const next = first->next;
    delete first;
    first = next;
  }
  std::printf("%d\\n", count > 10000);
}
"""
    built(tmp_path, {"program.cc": program}, "-O2", compiler=CXX)
    assert is_rewritten(tmp_path)
    assert output(tmp_path) == "1\n"


LOADS = """
struct cell { struct node* at; struct cell* more; };
static struct node zero;
struct cell* current = &(struct cell){&zero, NULL};
void watch(struct cell** p);
"""


@pytest.mark.parametrize(
    "body",
    [
        # A variable that another pointer reaches.
        """
  struct node* local = NULL;
  struct node** other = reach(&local);
  struct node* made = malloc(sizeof *made);
  if (made == NULL) return NULL;
  local = next;
  made->next = next;
  made->key = (*other)->key;
""",
        # A part of a variable, which was stored as a whole.
        """
  union { struct { uint32_t low, high; } part; uint64_t all; } word = {.all = 0};
  struct node* made = malloc(sizeof *made);
  if (made == NULL) return NULL;
  word.all = (uint64_t)next->key << 32;
  made->next = next;
  made->key = word.part.high;
""",
        # Memory that the code has changed in between, also to a pointer.
        """
  static struct node* last;
  struct node* made = malloc(sizeof *made);
  if (made == NULL) return NULL;
  last = next;
  made->next = next;
  made->key = (*reach(&last))->key;
""",
        # A pointer that is valid only if the test before the load holds.
        """
  struct node* made = malloc(sizeof *made);
  if (made == NULL) return NULL;
  made->next = next;
  made->key = next == &zero ? zero.key : next->next == NULL ? 0 : next->key;
""",
        # The object itself, through memory.
        """
  struct node* made = malloc(sizeof *made);
  if (made == NULL) return NULL;
  made->next = made;
  made->key = next->key;
  made->next->key = made->next->next->key;
  made->next = next;
""",
        # A copy over all of the object.
        """
  struct node* made = malloc(sizeof *made);
  if (made == NULL) return NULL;
  made->key = next->key + 1;
  memcpy(made, next, sizeof *made);
  made->next = next;
""",
    ],
)
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])
def test_values_are_read_only_where_the_program_reads_them(
    tmp_path: Path, body: str, level: str
) -> None:
    program = (
        HEAD
        + LOADS
        + "struct node** reach(struct node** p);\n"
        + "struct node* make(struct node* next, unsigned key) {"
        + body
        + """
  made->key += key;
  made->check = ~made->key;
  return made;
}
int main(void) {
  struct node* first = &zero;
  unsigned long sum = 0;
  for (unsigned at = 0; at < 1000; ++at) first = make(first, at % 3);
  while (first != &zero) {
    struct node* next = first->next;
    if (first->check != ~first->key) abort();
    sum += first->key;
    free(first);
    first = next;
  }
  printf("%lu\\n", sum);
  return 0;
}
"""
    )
    reach = "struct node** reach(struct node** p) { return p; }\n"
    sources = {"program.c": program, "reach.c": "struct node;\n" + reach}
    built(tmp_path, sources, level)
    hinted = output(tmp_path)
    subprocess.run(["cc", level, *sources, "-o", "program"], cwd=tmp_path, check=True)
    assert hinted == output(tmp_path)


def test_aligned_accesses_in_another_file(tmp_path: Path) -> None:
    vector = """
#include <emmintrin.h>
struct node { __m128i bits; unsigned key; };
"""
    program = f"""{vector}
#include <stdio.h>
#include <stdlib.h>
void fill(struct node* node);
int main(void) {{
  static struct node* all[3000];
  for (unsigned at = 0; at < 3000; ++at) {{
    struct node* made = malloc(sizeof *made);
    if (made == NULL) return 1;
    made->key = at % 77;
    all[at] = made;
    fill(made);
  }}
  for (unsigned at = 0; at < 3000; ++at) free(all[at]);
  puts("1");
  return 0;
}}
"""
    fill = f"{vector}\nvoid fill(struct node* node) {{ node->bits = _mm_set1_epi32(1); }}\n"
    hints = BY_KEY.replace(" 8\n", " 16\n")
    built(tmp_path, {"program.c": program, "fill.c": fill}, "-O2", hints=hints)
    assert is_rewritten(tmp_path)
    assert output(tmp_path) == "1\n"


def test_a_malloc_of_another_type(tmp_path: Path) -> None:
    program = """
#include <stdio.h>
struct node { struct node* next; unsigned key; };
void* malloc(int size);
void free(void*);
int main(void) {
  struct node* made = malloc(sizeof *made);
  made->key = (unsigned)getchar();
  made->next = 0;
  printf("%u\\n", made->key == 0);
  free(made);
  return 0;
}
"""
    done = compile_with(tmp_path, {"program.c": program}, "-O2", "-w")
    assert done.returncode == 0
    assert not is_rewritten(tmp_path)


TWO_TYPES = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) void* small(void* next, unsigned key) {
  struct node { void* next; unsigned key; };
  struct node* made = malloc(sizeof *made);
  made->next = next;
  made->key = key;
  return made;
}
__attribute__((noinline)) void* large(void* next, unsigned key) {
  struct node { void* next; unsigned key; char text[240]; };
  struct node* made = malloc(sizeof *made);
  made->next = next;
  made->key = key;
  memset(made->text, 'x', sizeof made->text);
  return made;
}
int main(void) {
  static char none[64];
  static unsigned *all[3000], *others[3000];
  for (unsigned at = 0; at < 3000; ++at) {
    all[at] = small(at ? (void*)all[at - 1] : none, at);
    others[at] = large(none, at);
  }
  for (unsigned at = 0; at < 3000; ++at)
    if (all[at][2] != at || others[at][2] != at || ((char*)others[at])[20] != 'x') abort();
  puts("1");
  return 0;
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_two_types_of_one_name_have_memory_of_their_own(tmp_path: Path, level: str) -> None:
    hints = "halo-hints 1\ntype 0 node\nkey u32 1.0 0 8\n"
    built(tmp_path, {"program.c": TWO_TYPES}, level, hints=hints)
    assert is_rewritten(tmp_path)
    assert output(tmp_path) == "1\n"


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])
def test_addresses_that_were_numbers(tmp_path: Path, level: str) -> None:
    program = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
struct node { struct node* next; unsigned key; };
uintptr_t tag = 64, tag2 = 64;
__attribute__((noinline)) struct node* make(struct node* next, unsigned key) {
  struct node* local = (struct node*)8;
  struct node* made = malloc(sizeof *made);
  if (NULL == made) return NULL;
  local = next;
  made->next = next;
  made->key = (*(struct node**)(((uintptr_t)&local ^ tag) ^ tag2))->key + key;
  return made;
}
int main(void) {
  struct node zero = {NULL, 5};
  printf("%u\\n", make(make(&zero, 1), 1)->key);
  return 0;
}
"""
    built(tmp_path, {"program.c": program}, level)
    assert output(tmp_path) == "7\n"


THREADS = """
#include <pthread.h>
#include <stdatomic.h>
static _Atomic(struct node*) shared;
static void* run(void* number) {
  static _Thread_local struct node* own[200];
  for (unsigned at = 0; at < 40000; ++at) {
    struct node* made = make(NULL, at % 50);
    struct node* other = atomic_exchange(&shared, made);
    if (other != NULL && (other->check != ~other->key || other->payload != other->key)) abort();
    free(own[at % 200]);
    own[at % 200] = other;
  }
  for (unsigned at = 0; at < 200; ++at) free(own[at]);
  return number;
}
int main(void) {
  pthread_t threads[4];
  for (unsigned at = 0; at < 4; ++at) pthread_create(&threads[at], NULL, run, NULL);
  for (unsigned at = 0; at < 4; ++at) pthread_join(threads[at], NULL);
  free(shared);
  puts("1");
  return 0;
}
"""


def test_threads_share_a_rule(tmp_path: Path) -> None:
    built(tmp_path, {"program.c": HEAD + MAKE + THREADS}, "-O2", "-pthread")
    assert is_rewritten(tmp_path)
    assert output(tmp_path) == "1\n"


def test_memory_counts_as_data_only_as_it_is_used(tmp_path: Path) -> None:
    program = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
struct node { struct node* next; unsigned key; char more[300]; };
int main(void) {
  const struct rlimit limit = {20 << 20, 20 << 20};
  setrlimit(RLIMIT_DATA, &limit);
  struct node* last = NULL;
  for (unsigned at = 0; at < 30000; ++at) {
    struct node* made = malloc(sizeof *made);
    if (made == NULL) return 1;
    made->key = at / 100;
    made->next = last;
    last = made;
  }
  puts("1");
  return 0;
}
"""
    built(tmp_path, {"program.c": program}, "-O2")
    assert is_rewritten(tmp_path)
    assert output(tmp_path) == "1\n"


def test_one_value_that_is_not_known_leaves_the_allocation(tmp_path: Path) -> None:
    hints = BY_KEY + "key f64 1.0 1000\n"
    built(tmp_path, {"program.c": HEAD + MAKE + LIST}, "-O2", "-S", "-emit-llvm", hints=hints)
    text = (tmp_path / "program").read_text()
    assert "halo.hint" not in text
    assert PLACE not in text


@pytest.mark.parametrize("sanitizer", ["address", "thread", "memory", "leak", "undefined,address"])
def test_a_sanitizer_is_refused(tmp_path: Path, sanitizer: str) -> None:
    done = compile_with(tmp_path, {"program.c": HEAD + MAKE + LIST}, f"-fsanitize={sanitizer}")
    assert done.returncode == 111
    assert "hints are not for programs with a sanitizer's allocator" in done.stderr


def test_the_same_hints_twice(tmp_path: Path) -> None:
    (tmp_path / "app.hints").write_text(BY_KEY)
    (tmp_path / "program.c").write_text(HEAD + MAKE + LIST)
    done = subprocess.run(
        [CC, "--halo-hints=app.hints", "--halo-hints=app.hints", "-O2", "program.c"],
        cwd=tmp_path,
        env={**os.environ, "HALO_INSTRUMENT": "hints=app.hints"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_path_with_blanks_is_refused(tmp_path: Path) -> None:
    hints = tmp_path / "my app.hints"
    hints.write_text(BY_KEY)
    command = [CC, f"--halo-hints={hints}", "-c", "x.c"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 111
    assert "must not hold blanks" in done.stderr
    assert "glob" not in done.stderr
