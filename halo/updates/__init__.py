"""Updates plans: what a plan was made from, and the same plan for another build."""

from halo.updates.allocator import chosen_allocator
from halo.updates.origin import Origin, Recording, find_recording, read_origin
from halo.updates.renewal import Renewed, renew

__all__ = [
    "Origin",
    "Recording",
    "Renewed",
    "chosen_allocator",
    "find_recording",
    "read_origin",
    "renew",
]
