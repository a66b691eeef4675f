"""Short, distinct names for allocation contexts, from the names of their call sites."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

DEEPEST = 8
"""Maximum call sites in the label of a context."""
SHOWN = 2
"""Call sites that a label names at most."""
ARROW = " ← "
"""Between a callee and its caller."""


class CallSite(NamedTuple):
    """A named call site: its function in short, and where in it, as far as that is known."""

    function: str
    place: str

    def __str__(self) -> str:
        if self.place.startswith("+"):
            return self.function + self.place
        line = self.place.rpartition(":")[2]
        return f"{self.function}:{line}" if line else self.function


def parse_site(name: str) -> CallSite:
    """From `function(...) at /path/file:line (inlined into ...)` or `function+0xoffset`."""
    whole = name.partition(" (inlined into ")[0]
    function, at, source = whole.rpartition(" at ")
    if at:
        return CallSite(short_function(function), PurePosixPath(source).name)
    offset = re.search(r"\+0x[0-9a-f]+$", whole)
    if offset:
        return CallSite(short_function(whole[: offset.start()]), offset.group())
    return CallSite(short_function(whole), "")


def short_function(name: str) -> str:
    """A function without parameters, template arguments and outer scopes; a library, plainly."""
    text = re.sub(r"\.so[.\d]*$", "", name.replace("(anonymous namespace)::", ""))
    while True:
        shorter = re.sub(r"(?<!operator)(<[^<>]*>|\([^()]*\)( const)?)", "", text)
        if shorter == text or not shorter.strip():
            break
        text = shorter
    text = "::".join(text.split("::")[-2:]).strip()
    # What stands before a blank is a template's return type, but for `operator new`.
    return text if "operator" in text else text.rpartition(" ")[2]


def distinct_labels(stacks: Mapping[int, Sequence[str]]) -> dict[int, str]:
    """A label for each context: the functions up its stack that tell it from the others.

    Where functions alone do not, their lines do, and as the last resort the context's number.
    """
    sites = {at: [parse_site(name) for name in stack[:DEEPEST]] for at, stack in stacks.items()}
    functions = {at: [site.function for site in found] for at, found in sites.items()}
    whole = {at: [str(site) for site in found] for at, found in sites.items()}
    likes, exact = Counter(map(tuple, functions.values())), Counter(map(tuple, whole.values()))
    by_function, by_site = _telling(functions), _telling(whole)
    labels = {}
    for at in sites:
        better = likes[tuple(functions[at])] > exact[tuple(whole[at])]
        labels[at] = (by_site if better else by_function)[at] or f"context {at}"
    counts = Counter(labels.values())
    return {at: f"{text} #{at}" if counts[text] > 1 else text for at, text in labels.items()}


def _telling(chains: Mapping[int, Sequence[str]]) -> dict[int, str]:
    """Of each chain the last names, from inner to outer, that fewer chains share than before."""
    shared = [
        Counter(tuple(chain[:depth]) for chain in chains.values()) for depth in range(DEEPEST + 1)
    ]
    found = {}
    for at, chain in chains.items():
        telling = [
            name
            for depth, name in enumerate(chain, 1)
            if shared[depth][tuple(chain[:depth])] < shared[depth - 1][tuple(chain[: depth - 1])]
        ]
        found[at] = ARROW.join(telling[-SHOWN:] or chain[:1])
    return found
