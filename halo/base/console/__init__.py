"""Human-readable output: tables on the terminal, failures as sentences and exit statuses."""
