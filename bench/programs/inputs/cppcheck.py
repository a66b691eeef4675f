"""Makes C for cppcheck: drivers of devices, with some of the faults that it finds."""

from __future__ import annotations

import random

from common import word, write_roles

HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""


def condition(rng: random.Random, name: str) -> str:
    return f"{name} {rng.choice(('<', '>', '==', '!='))} {rng.randint(0, 40)}"


def statement(rng: random.Random, device: str, depth: int) -> str:
    """A statement of a function with the variables d, n, count and buffer."""
    inner = statement(rng, device, depth - 1) if depth else "count++;"
    return rng.choice(
        [
            f"if ({condition(rng, 'n')}) {{ {inner} }} else {{ count -= {rng.randint(1, 9)}; }}",
            f"for (int i = 0; i < {rng.randint(4, 20)}; i++) {{ buffer[i] = (char)n; {inner} }}",
            f"while (n > {rng.randint(0, 9)}) {{ n -= {rng.randint(1, 3)}; {inner} }}",
            f"switch (n & 3) {{ case 0: count = 1; break; case 1: {inner} break; default: n++; }}",
            f"if (d && {condition(rng, 'd->level')}) {{ {inner} }}",
            f"if (!d) {{ return {rng.randint(-9, -1)}; }} {inner}",
            f"d->level = count + {rng.randint(0, 9)}; {inner}",
            f'count += snprintf(buffer, sizeof buffer, "%d", n); {inner}',
            f"{device}_set(d, n + {rng.randint(0, 9)}); {inner}",
        ]
    )


def driver(rng: random.Random, number: int) -> str:
    device = f"{word(rng)}{number}"
    functions = []
    for place in range(rng.randint(2, 5)):
        body = "\n  ".join(statement(rng, device, 3) for _ in range(rng.randint(3, 8)))
        free = "free(copy);" if rng.random() < 0.8 else ""  # else a leak
        functions.append(
            f"static int {device}_{word(rng)}{place}(struct {device} *d, int n) {{\n"
            f"  char buffer[16];\n  int count = 0;\n  char *copy = malloc(n + 1);\n"
            f"  if (!copy) return -1;\n  {body}\n  copy[n] = buffer[{rng.randint(0, 18)}];\n"
            f"  {free}\n  return count;\n}}"
        )
    fields = " ".join(f"int {word(rng)}_{place};" for place in range(rng.randint(1, 5)))
    return "\n".join(
        [
            f"struct {device} {{ int level; {fields} struct {device} *next; }};",
            f"static void {device}_set(struct {device} *d, int level) {{",
            f"  for (; d; d = d->next) if ({condition(rng, 'd->level')}) d->level = level;\n}}",
            *functions,
        ]
    )


def source(rng: random.Random, drivers: int) -> str:
    return "\n".join([HEAD, *(driver(rng, number) for number in range(drivers)), ""])


if __name__ == "__main__":
    write_roles("cppcheck", "c", source, 6, 50)
