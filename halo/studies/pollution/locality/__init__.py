"""Which objects and contexts miss the last-level cache, and what the watch makes of them."""
