"""A slow reference of the watch, and events for it."""
