"""Figures of aged heaps."""
