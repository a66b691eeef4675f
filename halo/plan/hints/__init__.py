"""Rules for hints in plans: the model, and its compact form."""
