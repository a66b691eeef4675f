"""Hints leave the choice of the allocator to the process: whose functions it uses, and how."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from halo.binary.process.allocators import KNOWN, find_allocator
from support.hinted import (
    CC,
    CXX,
    CXX_LIST,
    HEAD,
    LIST,
    MAKE,
    SETTINGS,
    SUM,
    built,
    is_rewritten,
    output,
)

OWN_MALLOC = """
#include <stddef.h>
#include <stdlib.h>
static char memory[1 << 24] __attribute__((aligned(16)));
static size_t used;
VISIBILITY void* malloc(size_t size) {
  void* p = memory + used;
  used += (size + 15) / 16 * 16;
  return used > sizeof memory ? NULL : p;
}
VISIBILITY void free(void* p) {
  if (p != NULL && ((char*)p < memory || (char*)p >= memory + used)) abort();
}
VISIBILITY void* calloc(size_t count, size_t size) { return malloc(count * size); }
VISIBILITY void* realloc(void* p, size_t size) { (void)p; (void)size; abort(); }
"""


@pytest.mark.parametrize("name", list(KNOWN))
def test_a_preloaded_allocator_serves_all(tmp_path: Path, name: str) -> None:
    library = find_allocator(name).library
    built(tmp_path, {"program.c": HEAD + MAKE + LIST}, "-O2")
    assert output(tmp_path, LD_PRELOAD=str(library or "")) == SUM


def test_the_runtime_serves_all_if_it_is_preloaded(tmp_path: Path) -> None:
    built(tmp_path, {"program.c": HEAD + MAKE + LIST}, "-O2")
    assert output(tmp_path, LD_PRELOAD=str(SETTINGS.runtime)) == SUM


@pytest.mark.parametrize("visibility", ["", '__attribute__((visibility("hidden")))'])
def test_a_malloc_of_the_program_serves_all(tmp_path: Path, visibility: str) -> None:
    own = OWN_MALLOC.replace("VISIBILITY", visibility)
    built(tmp_path, {"program.c": HEAD + MAKE + LIST, "own.c": own}, "-O2")
    assert is_rewritten(tmp_path)
    assert output(tmp_path) == SUM


def test_a_free_of_the_program_gets_only_blocks_of_malloc(tmp_path: Path) -> None:
    own = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <halo/tidy.h>
void free(void* p) {
  static void (*next)(void*);
  if (next == NULL) next = (void (*)(void*))dlsym(RTLD_NEXT, "free");
  if (tidy_owns(p)) abort();
  next(p);
}
"""
    headers = f"-I{SETTINGS.repository / 'src' / 'tidy' / 'include'}"
    built(tmp_path, {"program.c": HEAD + MAKE + LIST, "own.c": own}, "-O2", headers)
    assert output(tmp_path) == SUM


def test_a_shared_library_of_a_plain_program(tmp_path: Path) -> None:
    built(tmp_path, {"make.c": HEAD + MAKE}, "-O2", "-shared", "-fPIC", "-Wl,-soname,libmake.so")
    (tmp_path / "program").rename(tmp_path / "libmake.so")
    assert is_rewritten(tmp_path, "libmake.so")
    (tmp_path / "main.c").write_text(
        HEAD + "struct node* make(struct node* next, unsigned key);" + LIST
    )
    library = ["libmake.so", f"-Wl,-rpath,{tmp_path}"]
    subprocess.run(["cc", "main.c", "-o", "program", *library], cwd=tmp_path, check=True)
    assert output(tmp_path) == SUM


def test_a_program_whose_functions_are_at_fixed_addresses(tmp_path: Path) -> None:
    built(tmp_path, {"program.c": HEAD + MAKE + LIST}, "-O2", "-no-pie", "-fno-pie")
    assert output(tmp_path) == SUM


REPLACED = """
#include <cstdio>
#include <cstdlib>
#include <new>
unsigned long made, gone;
void* operator new(std::size_t size) {
  if (void* p = std::malloc(size)) return ++made, p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { ++gone; std::free(p); }
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }
"""


def test_an_operator_new_of_the_program_serves_all(tmp_path: Path) -> None:
    program = (
        "extern unsigned long made, gone;\n"
        + CXX_LIST
        + '  std::printf("%d\\n", made >= 5000 && gone >= 5000);\n}\n'
    )
    built(tmp_path, {"program.cc": program, "new.cc": REPLACED}, "-O2", compiler=CXX)
    assert is_rewritten(tmp_path)
    assert output(tmp_path) == "1\n"


def test_a_hidden_free_of_the_program(tmp_path: Path) -> None:
    own = """
extern void __libc_free(void*);
__attribute__((visibility("hidden"))) void free(void* p) { __libc_free(p); }
"""
    built(tmp_path, {"program.c": HEAD + MAKE + LIST, "own.c": own}, "-O2")
    assert output(tmp_path) == SUM


def test_a_local_operator_delete_of_the_program(tmp_path: Path) -> None:
    own = """
#include <cstddef>
extern "C" void __libc_free(void*);
void operator delete(void* p) noexcept { __libc_free(p); }
void operator delete(void* p, std::size_t) noexcept { __libc_free(p); }
"""
    (tmp_path / "own.map").write_text("{global: main; local: *;};\n")
    program = CXX_LIST + '  std::puts("1");\n}\n'
    options = ("-O2", "-Wl,--version-script=own.map")
    built(tmp_path, {"program.cc": program, "own.cc": own}, *options, compiler=CXX)
    assert output(tmp_path) == "1\n"


def test_a_malloc_of_the_program_counts_all(tmp_path: Path) -> None:
    own = """
#include <cstddef>
#include <dlfcn.h>
unsigned long made, gone = 5000;
extern "C" void* malloc(std::size_t size) {
  static void* (*next)(std::size_t);
  if (next == nullptr) next = (void* (*)(std::size_t))dlsym(RTLD_NEXT, "malloc");
  ++made;
  return next(size);
}
"""
    program = (
        "extern unsigned long made, gone;\n"
        + CXX_LIST
        + '  std::printf("%d\\n", made >= 5000 && gone >= 5000);\n}\n'
    )
    built(tmp_path, {"program.cc": program, "own.cc": own}, "-O2", compiler=CXX)
    assert output(tmp_path) == "1\n"


PLUGIN = (
    HEAD
    + MAKE
    + """
#include <pthread.h>
static struct node* last;
static void* run(void* none) {
  for (unsigned at = 0; at < 10; ++at) last = make(last, at);
  return none;
}
__attribute__((constructor)) static void start(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  pthread_join(thread, NULL);
}
"""
)


HOST = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long mappings(void) {
  FILE* file = fopen("/proc/self/maps", "r");
  long count = 0;
  int c;
  while ((c = getc(file)) != EOF) count += c == 10;
  fclose(file);
  return count;
}
int main(void) {
  long before = 0;
  for (int round = 0; round < 100; ++round) {
    void* library = dlopen("./libplugin.so", RTLD_NOW);
    if (library == NULL) return puts(dlerror());
    void* (*make)(void*, unsigned);
    *(void**)&make = dlsym(library, "make");
    if (dlopen("./none.so", RTLD_NOW) != NULL) return 1;
    free(make(NULL, 1));
    const char* said = dlerror();
    if (said == NULL || strstr(said, "none.so") == NULL) return puts("lost");
    dlclose(library);
    if (round == 10) before = mappings();
  }
  puts(mappings() - before < 20 ? "1" : "0");
  return 0;
}
"""


def test_a_plugin_that_is_loaded_again_and_again(tmp_path: Path) -> None:
    built(tmp_path, {"plugin.c": PLUGIN}, "-O2", "-shared", "-fPIC")
    (tmp_path / "program").rename(tmp_path / "libplugin.so")
    for compiler in (["cc"], [CC, "--halo-hints=app.hints"]):
        (tmp_path / "host.c").write_text(HOST)
        command = [*compiler, "host.c", "-o", "program"]
        subprocess.run(command, cwd=tmp_path, check=True)
        done = subprocess.run(
            ["./program"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stdout) == (0, "1\n")
