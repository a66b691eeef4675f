"""Programs for hints without a build, which compilers build without debug information."""

from __future__ import annotations

import subprocess
from pathlib import Path

NODES = """
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { kNodes = 20000, kOwners = 100 };
struct node { struct node* next; unsigned owner; unsigned check; double payload; double more[2]; };
static unsigned next_owner(void) {
  static uint32_t state = 1;
  state = state * 1664525 + 1013904223;
  return (state >> 16) % kOwners;
}
__attribute__((noinline)) static struct node* make(struct node* next, unsigned owner) {
  struct node* made = malloc(sizeof *made);
  if (made == NULL) return NULL;
  made->next = next;
  made->owner = owner;
  made->check = ~owner;
  made->payload = 1;
  made->more[0] = made->more[1] = 0;
  return made;
}
static struct node* owned[kOwners];
static double sum;
static void print_pages(void) {
  unsigned long pages = 0;
  for (unsigned owner = 0; owner < kOwners; ++owner) {
    static uintptr_t seen[kNodes];
    uintptr_t count = 0;
    for (struct node* at = owned[owner]; at != NULL; at = at->next) {
      uintptr_t page = (uintptr_t)at / 4096, one = 0;
      if (at->check != ~owner || (uintptr_t)at % 8 != 0) abort();
      while (one < count && seen[one] != page) ++one;
      if (one == count) seen[count++] = page;
    }
    pages += count;
  }
  printf("%.1f\\n", (double)pages / (unsigned)kOwners);
}
int main(int argc, char** argv) {
  for (unsigned at = 0; at < kNodes; ++at) {
    unsigned owner = next_owner();
    owned[owner] = make(owned[owner], owner);
  }
  for (int round = 0; round < 3; ++round)
    for (unsigned owner = 0; owner < kOwners; ++owner)
      for (struct node* at = owned[owner]; at != NULL; at = at->next) sum += at->payload;
  print_pages();
  if (argc > 1) {
    /* Other uses of blocks. */
    struct node* one = owned[0];
    owned[0] = one->next;
    if (malloc_usable_size(one) < sizeof *one) abort();
    unsigned check = one->check;
    one = realloc(one, 5000);
    if (one->check != check) abort();
    one = realloc(one, sizeof *one);
    if (one->check != check || realloc(one, 0) != NULL) abort();
  }
  for (unsigned owner = 0; owner < kOwners; ++owner)
    for (struct node* at = owned[owner]; at != NULL;) {
      struct node* next = at->next;
      free(at);
      at = next;
    }
  return sum != 3 * kNodes || argv == NULL;
}
"""
"""Nodes of an owner are used together, and others are allocated between them. Prints the pages of
an owner's nodes, on average."""


def compile_program(folder: Path, compiler: str, source: str, *flags: str) -> Path:
    """Compiles `folder`/program, without debug information."""
    language = "c" if compiler in ("gcc", "clang-19") else "c++"
    command = [compiler, "-O2", "-x", language, "-", "-o", "program", *flags, "-pthread"]
    subprocess.run(command, cwd=folder, input=source, text=True, check=True)
    return folder / "program"
