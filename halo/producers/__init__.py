"""What can record a program: each producer leaves the same parts of a profile."""
