"""The commands: one file each; `registry` lists them."""
