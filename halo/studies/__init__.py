"""Studies of papers and others, which the main job does not need; `halo/registry.py` names all."""
