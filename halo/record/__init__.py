"""Records programs: the engines, their runs, and the parts of a profile that they write."""
