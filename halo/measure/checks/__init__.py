"""Checks whether a plan still helps: sequential rounds under it and without it."""
