"""Documents about the last-level cache: who pollutes it, who shares it, what colours do."""
