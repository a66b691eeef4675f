"""All strategies, in the order in which `halo plan` lists them and `halo run` tries them."""

from __future__ import annotations

from collections.abc import Sequence

from halo.plan.strategies.base import AnyStrategy
from halo.registry import STRATEGIES as ENTRIES
from halo.registry import load

STRATEGIES: Sequence[AnyStrategy] = load(ENTRIES)
