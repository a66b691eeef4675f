"""The test of an answer: what is certain after some rounds, and how often that is wrong."""

from __future__ import annotations

import math
import random
from itertools import compress, product

import pytest

from halo.measure.racing.sequential import EARLY_LOOK, LAST_LOOK, LOOKS, TWO_SIDED, paired_gain
from support.samples.noise import Noise, disturbed, quiet


def test_a_gain_in_every_round_is_certain_however_far_off_some_are() -> None:
    """Seconds of a real answer, on a machine whose caches others use."""
    slower = [2.18, 2.73, 6.3, 2.46, 2.22, 2.26, 2.35, 7.25, 2.52, 4.22, 2.29, 2.26]
    faster = [1.43, 1.49, 1.42, 1.69, 1.57, 1.57, 1.62, 1.6, 1.51, 1.49, 1.54, 1.44]
    gain = paired_gain(slower, faster)
    assert gain.exceeds(1.0, TWO_SIDED) and gain.interval(TWO_SIDED).low > 1.4
    assert not paired_gain(slower[:7], faster[:7]).exceeds(1.0, TWO_SIDED), "these may be by chance"
    assert not paired_gain([*slower[:-1], 1.0], faster).exceeds(1.0, TWO_SIDED), "a great loss"


@pytest.mark.parametrize("rounds", range(9, 15))
def test_an_answer_is_certain_if_few_signs_of_its_rounds_have_as_small_losses(rounds: int) -> None:
    """By all signs that they could have had, of which each is as likely without a difference."""
    allowed = TWO_SIDED.outermost(rounds)
    assert allowed is not None
    sums = [sum(compress(range(1, rounds + 1), signs)) for signs in product((0, 1), repeat=rounds)]
    level = 0.002 if rounds < 12 else 0.0008
    assert sum(it <= allowed for it in sums) <= level * 2**rounds
    assert sum(it <= allowed + 1 for it in sums) > level * 2**rounds
    rng = random.Random(rounds)
    for _ in range(200):
        logs = [rng.gauss(0.15, 0.1) for _ in range(rounds)]
        losses = sum(rank for rank, it in enumerate(sorted(logs, key=abs), 1) if it < 0)
        gain = paired_gain([math.exp(it) for it in logs], [1.0] * rounds)
        assert gain.exceeds(1.0, TWO_SIDED) == (losses <= allowed)


@pytest.mark.parametrize("rounds", [4, 5, 6])
def test_few_rounds_of_two_speeds_claim_nothing(rounds: int) -> None:
    """A machine that is now and then 10 % slower may be so in all rounds of one configuration."""
    assert not paired_gain([1.1] * rounds, [1.0] * rounds).exceeds(1.0, TWO_SIDED)
    mixed = [1.1] * (rounds - 1) + [1.0]
    assert not paired_gain(mixed, [1.0] * rounds).exceeds(1.0, TWO_SIDED)
    assert paired_gain([1.3] * rounds, [1.0] * rounds).exceeds(1.0, TWO_SIDED)


def test_the_test_of_an_answer_has_few_rounds_and_many() -> None:
    few = paired_gain([1.5, 1.51, 1.52, 1.49, 1.5, 1.48, 1.5], [1.0] * 7)
    found = few.interval(TWO_SIDED)
    assert few.exceeds(1.0, TWO_SIDED) and found.low < found.value < found.high
    exact, normal = (TWO_SIDED.outermost(it) for it in (LAST_LOOK, LAST_LOOK + 1))
    assert exact is not None and normal is not None
    assert 0 < normal - exact < 20, "a round more is one more rank"


def test_an_early_look_tells_only_what_is_far_beyond_the_noise() -> None:
    """Seconds of a real answer in time slices, and the same with more noise."""
    slower = [4.16, 4.21, 4.09, 4.23]
    great = paired_gain(slower, [2.41, 2.40, 2.38, 2.44])
    assert great.exceeds(1.0, TWO_SIDED) and great.interval(TWO_SIDED).low < great.mean * 3
    assert not paired_gain(slower, [2.41, 3.10, 2.38, 2.44]).exceeds(1.0, TWO_SIDED)
    assert not paired_gain(slower[:3], [2.41, 2.40, 2.38]).exceeds(1.0, TWO_SIDED), "too few"


@pytest.mark.parametrize("noise", [quiet, disturbed])
def test_equal_configurations_differ_in_at_most_one_of_a_hundred_answers(noise: Noise) -> None:
    """Whichever of them is said to be the faster one."""
    rng, claims = random.Random(5), 0
    for _ in range(400):
        mine, other = ([noise(rng) for _ in range(30)] for _ in range(2))
        pairs = [(mine[:look], other[:look]) for look in (EARLY_LOOK, *LOOKS) if look <= 30]
        gains = [paired_gain(*order) for pair in pairs for order in (pair, pair[::-1])]
        claims += any(gain.exceeds(1.0, TWO_SIDED) for gain in gains)
    assert claims <= 9, "less than one in a hundred, and chance"
