"""The SQL engines that run analyses."""
