"""`halo study trace`: traces of instrumented programs."""
