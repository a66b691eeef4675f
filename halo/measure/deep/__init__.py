"""Plans that need a recording of every access: which exist, and which are worth trying."""
