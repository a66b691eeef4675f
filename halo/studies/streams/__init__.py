"""Hot data streams (HALO, section 5.1)."""
