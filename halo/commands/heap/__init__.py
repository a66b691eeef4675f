"""`halo heap`: aged heaps."""
