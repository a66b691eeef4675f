"""The options of services, programs that do not end by themselves, and of time limits."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from halo.base.errors import BadInput, UsageError

if TYPE_CHECKING:
    from halo.measure.services.service import Service


OF_A_RUN = (
    "time limit of each run of the program, or of the load of a service; 100 times as long under"
    " the recorder (default: 600, or ten times the first run)"
)

OF_AN_AGED_RUN = "time limit of each run of the program (default: none)"


def add_timeout_option(parser: argparse.ArgumentParser, meaning: str = OF_A_RUN) -> None:
    """The option of all that measure."""
    parser.add_argument("--timeout", type=_seconds, metavar="SECONDS", help=meaning)


def add_service_options(parser: argparse.ArgumentParser) -> None:
    """The options of the commands that can measure a service."""
    parser.add_argument(
        "--load",
        metavar="SCRIPT",
        help="script that uses the program, which is a service: a trial starts it, runs the script"
        " and stops it; may have arguments, in one pair of quotation marks",
    )
    parser.add_argument(
        "--ready",
        type=_parsed("parse_ready"),
        metavar="SIGN",
        help="sign that the service is ready: tcp:PORT (on 127.0.0.1), file:PATH or line:REGEX, in"
        " its output (default: a TCP or Unix socket of it accepts connections)",
    )
    parser.add_argument(
        "--stop",
        type=_parsed("parse_signal"),
        metavar="SIGNAL",
        help="signal that ends the service (default TERM)",
    )


def service_of(options: argparse.Namespace, load: str | None = None) -> Service | None:
    """The service of `add_service_options`, None without a load; `load` replaces that of `--load`.

    Raises `BadInput` if the load cannot be run, `UsageError` for an option that needs one.
    """
    import signal

    from halo.measure.services.service import Ready, Service, parse_load

    given = load or getattr(options, "load", None)
    if given is None:
        for name in ("ready", "stop"):
            if getattr(options, name, None) is not None:
                raise UsageError(f"--{name} is for a service: give its load with --load SCRIPT.")
        return None
    try:
        found = parse_load(given)
    except ValueError as error:
        raise BadInput(str(error)) from error
    return Service(found, options.ready or Ready(), options.stop or signal.SIGTERM)


def _parsed(name: str) -> Callable[[str], Any]:
    """A parser of `halo.measure.services.service`, which is imported only if it is needed."""

    def parse(text: str) -> Any:
        from halo.measure.services import service

        try:
            return getattr(service, name)(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return parse


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds above 0")
    return value
