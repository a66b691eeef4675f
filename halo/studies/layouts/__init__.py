"""Layouts of objects: object traces, and their replay with objects in other orders."""
