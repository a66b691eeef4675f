"""Competition for cache sets: what was recorded of it, and where objects should start."""
