"""Makes random layered graphs, similar to build or call graphs, for dot."""

from __future__ import annotations

import random

from common import folder, generator, word


def graph(rng: random.Random, layers: int, width: int) -> str:
    lines = ["digraph g {", "  rankdir=LR; node [shape=box];"]
    for layer in range(layers):
        for place in range(width):
            lines.append(f'  n{layer}_{place} [label="{word(rng)} {layer}.{place}"];')
    for layer in range(1, layers):
        for place in range(width):
            for _ in range(rng.randint(1, 2)):
                near = min(width - 1, max(0, place + rng.randint(-4, 4)))
                lines.append(f"  n{layer - 1}_{near} -> n{layer}_{place};")
            if layer > 2 and rng.random() < 0.1:
                lines.append(f"  n{layer - 3}_{rng.randrange(width)} -> n{layer}_{place};")
    return "\n".join([*lines, "}", ""])


def main() -> None:
    for name, layers, width in (("train", 24, 54), ("valid", 30, 70), ("ref", 30, 70)):
        (folder() / f"{name}.dot").write_text(graph(generator(f"dot {name}"), layers, width))


if __name__ == "__main__":
    main()
