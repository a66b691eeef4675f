"""Makes English sentences for link-parser, of clauses within clauses."""

from __future__ import annotations

import random

from common import write_roles

NOUNS = (
    *("farmer", "teacher", "river", "house", "letter", "garden", "doctor", "bridge", "child"),
    *("engine", "village", "song", "tree", "boat", "neighbor", "window", "book", "horse"),
)
ADJECTIVES = ("old", "small", "red", "quiet", "broken", "young", "heavy", "strange", "new")
TRANSITIVE = ("saw", "found", "painted", "followed", "remembered", "sold", "carried", "liked")
INTRANSITIVE = ("slept", "arrived", "waited", "laughed", "returned", "disappeared")
BELIEF = ("said", "knew", "thought", "believed", "hoped")
PLACES = ("near", "behind", "in", "under", "beside", "across")
LINKS = ("because", "although", "while", "before", "after", "when")
ADVERBS = ("quickly", "often", "yesterday", "quietly", "again")


def noun(rng: random.Random, depth: int) -> str:
    adjective = f"{rng.choice(ADJECTIVES)} " if rng.random() < 0.5 else ""
    plain = f"the {adjective}{rng.choice(NOUNS)}"
    kind = rng.random()
    if depth > 0 and kind < 0.2:
        return f"{plain} {rng.choice(PLACES)} {noun(rng, depth - 1)}"
    if depth > 0 and kind < 0.35:
        return f"{plain} that {rng.choice(TRANSITIVE)} {noun(rng, depth - 1)}"
    if depth > 0 and kind < 0.45:
        return f"{plain} and {noun(rng, depth - 1)}"
    return plain


def clause(rng: random.Random, depth: int) -> str:
    kind = rng.random()
    if depth > 1 and kind < 0.3:
        return f"{noun(rng, 1)} {rng.choice(BELIEF)} that {clause(rng, depth - 1)}"
    if kind < 0.5:
        return f"{noun(rng, depth)} {rng.choice(INTRANSITIVE)} {rng.choice(ADVERBS)}"
    return f"{noun(rng, depth)} {rng.choice(TRANSITIVE)} {noun(rng, depth)}"


def sentences(rng: random.Random, count: int) -> str:
    lines = []
    for _ in range(count):
        text = clause(rng, 2)
        if rng.random() < 0.4:
            text += f" {rng.choice(LINKS)} {clause(rng, 1)}"
        lines.append(f"{text[0].upper()}{text[1:]}.")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    write_roles("link-parser", "txt", sentences, 20, 300)
