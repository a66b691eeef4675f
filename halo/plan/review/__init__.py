"""The reviewable part of a plan: what it holds, and its form NAME.plan.json."""
