"""What other commands than trials have found, on the page: a module for each kind of document."""
