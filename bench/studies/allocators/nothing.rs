// Only the sources of the crates are used.
