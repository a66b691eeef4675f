"""Figures of `halo layout`: other orders of objects, and the graph that they come from."""
