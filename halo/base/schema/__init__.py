"""Every JSON result of halo, defined once: writers fill these types, readers load them.

The comment behind a field is its meaning in docs/results-format.md, which
scripts/generate_results_format.py writes. A field without a default has to be in a file.
"""
