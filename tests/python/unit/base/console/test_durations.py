"""Short times have as many digits as long ones."""

from __future__ import annotations

import pytest

from halo.base.console.durations import quartiles, seconds, with_spread


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0.00412, "0.00412"), (0.0461, "0.0461"), (0.1234, "0.123"), (1.2346, "1.235")),
        *((61.5, "61.500"), (0.0, "0.000"), (1e-9, "0.000000")),
    ],
)
def test_a_time_has_three_digits_at_least(value: float, text: str) -> None:
    assert seconds(value) == text


def test_a_spread_has_the_decimals_of_its_time() -> None:
    assert with_spread(0.00412, 0.0001) == "0.00412 ± 0.00010"
    assert with_spread(1.2, 0.0001) == "1.200 ± 0.000"
    assert quartiles(0.004, 0.0045) == "0.00400–0.00450"
