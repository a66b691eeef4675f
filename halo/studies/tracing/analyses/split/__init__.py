"""Structure splitting: which classes to divide into a hot and a cold part."""
