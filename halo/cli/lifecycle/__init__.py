"""Commands on a plan after it was chosen."""
