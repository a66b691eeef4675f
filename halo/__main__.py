"""`python3 -m halo` is the command `halo`."""

import sys

from halo.cli import main

if __name__ == "__main__":
    sys.exit(main())
