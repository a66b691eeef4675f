"""Runs the command `halo` for `python3 -m halo` and for scripts of installed packages."""

import signal
import sys


def main() -> int:
    """As the launchers do, blocks the signals that end halo while its modules are imported."""
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    from halo.cli.main import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
