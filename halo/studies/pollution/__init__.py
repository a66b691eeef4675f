"""Cache pollution: locality, confinement by page colours, programs on one last-level cache."""
