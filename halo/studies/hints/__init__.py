"""Hints for an allocator: which values of fields predict with what an object is used."""
