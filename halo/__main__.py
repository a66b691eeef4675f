"""Runs the command `halo` for `python3 -m halo`."""

import sys

from halo.cli import main

if __name__ == "__main__":
    sys.exit(main())
