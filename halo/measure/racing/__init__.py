"""The choice of a plan as a race: who runs on, and when the answer is certain."""
