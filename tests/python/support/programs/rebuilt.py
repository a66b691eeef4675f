"""A program in several builds: with edits of its source, and with a hot loop that left the heap."""

from __future__ import annotations

from pathlib import Path

from support.command import compile_c

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; long value; };
static struct node *push(struct node *head, long value) {
  struct node *node = malloc(sizeof *node);
  node->next = head;
  node->value = value;
  return node;
}
int main(int argc, char **argv) {
  long count = argc > 1 ? atol(argv[1]) : 1000, rounds = argc > 2 ? atol(argv[2]) : 1;
  unsigned long sum = 1;
  struct node *list = 0;
  for (long i = 0; i < count; ++i) {
    list = push(list, i);
    sum += malloc(200) != NULL;
  }
  for (long round = 0; round < rounds; ++round)
    for (struct node *node = list; node; node = node->next) sum += node->value;
  printf("%lu\n", sum);
  return 0;
}
"""
LOOP = "for (struct node *node = list; node; node = node->next) sum += node->value;"
"""The hot loop; a build without it computes the same number in another way."""


def build(path: Path, *edits: tuple[str, str], flags: tuple[str, ...] = ()) -> Path:
    """Compiles the program with each `(old, new)` replaced in its source."""
    source = SOURCE
    for old, new in edits:
        assert old in source, old
        source = source.replace(old, new)
    return compile_c(source, path, *flags)


LINES_ABOVE = ("static struct node *push", "\n" * 40 + "static struct node *push")
LINES_INSIDE = (
    "  struct node *node = malloc",
    "  if (value < 0)\n    abort();\n  value *= 1;\n\n\n\n  struct node *node = malloc",
)
RENAMED = ("push", "prepend")
COMPUTES = (LOOP, "for (long i = 0; i < count; ++i) sum += count - 1 - i;")
