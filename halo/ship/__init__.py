"""What a program needs where it is used: checks before, and a folder to deploy."""
