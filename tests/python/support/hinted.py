"""Builds programs with hints for tests, and runs them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from halo.base.settings import read_settings

SETTINGS = read_settings()
CC = str(SETTINGS.repository / "bin" / "halo-cc")
CXX = str(SETTINGS.repository / "bin" / "halo-c++")
PLACE = "tidy_place"
BY_KEY = "halo-hints 1\ntype 0 node\nkey u32 1.0 8\n"

HEAD = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { struct node* next; unsigned key; unsigned check; double payload; };
"""
MAKE = """
struct node* make(struct node* next, unsigned key) {
  struct node* made = malloc(sizeof *made);
  if (made == NULL) return NULL;
  made->next = next;
  made->key = key;
  made->check = ~key;
  made->payload = key;
  return made;
}
"""
LIST = """
int main(void) {
  struct node* first = NULL;
  unsigned long sum = 0;
  for (unsigned at = 0; at < 30000; ++at) first = make(first, at * 7919 % 1000);
  while (first != NULL) {
    struct node* next = first->next;
    if (first->check != ~first->key || first->payload != first->key) abort();
    if ((uintptr_t)first % 16 != 0) abort();
    sum += first->key;
    free(first);
    first = next;
  }
  printf("%lu\\n", sum);
  return 0;
}
"""
SUM = "14985000\n"
CXX_LIST = """
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>
struct node {
  node(node* n, unsigned k) : next(n), key(k), check(~k) {}
  node* next;
  unsigned key, check;
};
int main() {
  std::vector<std::unique_ptr<node>> all;
  all.reserve(5000);
  for (unsigned at = 0; at < 5000; ++at)
    all.push_back(std::make_unique<node>(at ? all[at / 2].get() : nullptr, at % 100));
  for (unsigned at = 0; at < 5000; ++at)
    if (all[at]->key != at % 100 || all[at]->check != ~(at % 100)) std::abort();
  all.clear();
"""


def compile_with(
    folder: Path, sources: dict[str, str], *options: str, hints: str = BY_KEY, compiler: str = CC
) -> subprocess.CompletedProcess[str]:
    """Builds `folder`/program from files of these names and texts."""
    for name, text in sources.items():
        (folder / name).write_text(text)
    (folder / "app.hints").write_text(hints)
    command = [compiler, "--halo-hints=app.hints", *options, *sources, "-o", "program"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def built(folder: Path, sources: dict[str, str], *options: str, **others: str) -> None:
    done = compile_with(folder, sources, *options, **others)
    assert (done.returncode, done.stderr) == (0, "")


def is_rewritten(folder: Path, file: str = "program") -> bool:
    return PLACE in subprocess.run(["nm", file], cwd=folder, capture_output=True, text=True).stdout


def output(folder: Path, *arguments: str, **variables: str) -> str:
    done = subprocess.run(
        [str(folder / "program"), *arguments],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
