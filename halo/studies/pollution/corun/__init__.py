"""Programs that share a last-level cache: their streams, mixes, and speed-ups."""
