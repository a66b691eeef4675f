"""`halo study eval`: measurements without the choice of a plan."""
