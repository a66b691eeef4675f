"""Every JSON result of halo, defined once: writers fill these types, readers load them.

The comment behind a field is its meaning on the page that scripts/generate_results_format.py
writes (docs/results-format.md). A field without a default has to be in a file.
"""
