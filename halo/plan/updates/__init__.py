"""Updates plans: what a plan was made from, and the same plan for another build."""

from halo.plan.updates.allocator import chosen_allocator
from halo.plan.updates.origin import Origin, OriginalProfile, find_recording, read_origin
from halo.plan.updates.renewal import Renewed, renew

__all__ = [
    "Origin",
    "OriginalProfile",
    "Renewed",
    "chosen_allocator",
    "find_recording",
    "read_origin",
    "renew",
]
