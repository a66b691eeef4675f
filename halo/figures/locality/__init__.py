"""Figures of `halo locality`: how alike the pages of objects and the objects of contexts are."""
