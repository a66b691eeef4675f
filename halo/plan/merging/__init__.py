"""Merges profiles of several inputs of one build, and scores how well their plans agree."""
