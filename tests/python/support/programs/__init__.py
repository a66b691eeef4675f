"""Programs that tests compile, record and run, by the part that they try."""
