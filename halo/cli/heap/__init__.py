"""`halo study heap`: aged heaps."""
