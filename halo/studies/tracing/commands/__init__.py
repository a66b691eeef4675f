"""`halo trace`: traces of instrumented programs."""
