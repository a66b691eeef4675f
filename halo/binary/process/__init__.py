"""Programs and their environment: targets, child processes, signals, allocators."""
