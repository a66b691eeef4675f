"""All strategies, in the order in which `halo plan` lists them and `halo run` tries them."""

from halo.strategies import (
    confine,
    conflict,
    dense,
    everything,
    from_file,
    halo,
    halo_hot,
    hot_cold,
    hot_streams,
    none,
    one_pool,
    search,
    size_affinity,
)
from halo.strategies.base import AnyStrategy
from halo.strategies.controls import per_site, random_groups, random_pools

STRATEGIES: list[AnyStrategy] = [
    none.STRATEGY,
    one_pool.STRATEGY,
    dense.STRATEGY,
    everything.STRATEGY,
    halo.STRATEGY,
    halo_hot.STRATEGY,
    hot_cold.STRATEGY,
    size_affinity.STRATEGY,
    hot_streams.STRATEGY,
    conflict.STRATEGY,
    confine.STRATEGY,
    search.STRATEGY,
    per_site.STRATEGY,
    random_groups.STRATEGY,
    random_pools.STRATEGY,
    from_file.STRATEGY,
]
