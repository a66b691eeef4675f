"""Random events for the watch: objects that share few pages, so that many references are armed."""

from __future__ import annotations

import random
from collections.abc import Iterator

from support.watch.reference import Settings


def random_settings(seed: int) -> Settings:
    """Small ones, so that every limit is met."""
    rng = random.Random(seed)
    return Settings(
        open=rng.choice([8, 40, 200]),
        restrict=rng.choice([2, 8, 30]),
        rounds=rng.randint(1, 8),
        round_bytes=rng.choice([4096, 16384]),
        bursts=rng.randint(1, 4),
        always=rng.choice([20_000, 1 << 20]),
        interval=rng.choice([1, 4, 1024]),
        pending=rng.choice([1, 2, 1000]),
        stale=rng.choice([500, 30_000_000]),
        pause=rng.choice([0, 20, 100]),
        period=rng.choice([1, 50, 1000]),
        timeout=rng.choice([100, 3000, 10_000_000]),
        objects=rng.choice([1, 3, 16]),
        pages=rng.choice([2, 8, 64]),
        contexts=rng.randint(1, 4),
        origin_first=rng.randint(0, 1),
        seed=seed,
    )


def random_events(seed: int, count: int) -> Iterator[str]:
    """Lines of `halo-watch-replay`."""
    rng = random.Random(~seed)
    us = accesses = misses = 0
    sizes = [rng.choice([64, 100, 5000, 30_000]) for _ in range(5)]
    step = rng.choice([2, 20, 100, 1000])
    share = rng.choice([0.1, 0.9, 1.0])
    weights = rng.choice([[2, 1, 8, 4], [1, 0, 20, 20], [1, 1, 40, 40]])
    others = rng.choice([0.0, 0.3])
    for _ in range(count):
        us += rng.randrange(20)
        more = rng.randrange(step)
        accesses += more
        misses += sum(rng.random() < share for _ in range(more))
        kind = rng.choices("afrp", weights)[0]
        address = 4096 * 16 * (1 + rng.randrange(4))
        if kind == "a":
            context = rng.randrange(5)
            size = rng.choice(sizes) if rng.random() < others else sizes[context]
            first = address // 4096 if rng.random() < 0.9 else rng.randrange(80)
            words = [address, size, context, first, -(-size // 4096)]
        elif kind == "f":
            words = [address]
        elif kind == "r":
            words = [address // 4096 + min(rng.randrange(8), rng.randrange(8))]
        else:
            words = []
        yield " ".join(map(str, [kind, *words, us, accesses, misses]))
