"""Makes orders as JSON, which jq groups, adds up and sorts."""

from __future__ import annotations

import json
import random
from typing import Any

from common import word, words, write_roles


def customer(rng: random.Random, number: int) -> dict[str, Any]:
    return {
        "id": number,
        "name": words(rng, 2),
        "city": f"city {rng.randrange(200)}",
        "tags": [word(rng) for _ in range(rng.randint(0, 5))],
        "orders": [
            {"sku": rng.randrange(5000), "price": rng.randrange(1, 10000) / 100, "note": word(rng)}
            for _ in range(rng.randint(1, 6))
        ],
    }


def orders(rng: random.Random, count: int) -> str:
    return json.dumps([customer(rng, number) for number in range(count)])


if __name__ == "__main__":
    write_roles("jq", "json", orders, 16_000, 50_000)
