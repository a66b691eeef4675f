"""All strategies, in the order in which `halo plan` lists them and `halo run` tries them."""

from halo.strategies import (
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
    per_site,
    random_groups,
    random_pools,
    search,
    size_affinity,
)
from halo.strategies.base import AnyStrategy

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
    search.STRATEGY,
    per_site.STRATEGY,
    random_groups.STRATEGY,
    random_pools.STRATEGY,
    from_file.STRATEGY,
]
