"""Plans, results, traces and findings as the product writes them, without running it."""
