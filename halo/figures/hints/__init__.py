"""Figures of `halo hints`: the importance of fields, and the accuracy of forests."""
