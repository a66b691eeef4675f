"""Parts that several test files share: programs, samples, and ways to run them."""
