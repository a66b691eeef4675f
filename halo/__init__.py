"""halo makes native Linux programs faster by placing their heap objects from evidence."""

__version__ = "0.1.0"
