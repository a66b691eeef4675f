"""The options of sinks, for the recorder and for `halo record`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class SinkOption:
    """An option by the recorder's `name`; an empty value is not passed on.

    `flag` is the option of `halo record`, if any; `bare` is its value if it is given without one.
    """

    name: str
    default: int | str
    flag: str = ""
    metavar: str = ""
    help: str = ""
    bare: int | None = None
    maximum: int | None = None
    exact: bool = False  # if given, requires all accesses to tracked objects, not bursts
    all_accesses: bool = False  # if given, also requires accesses outside tracked objects


DISTANCE = SinkOption(
    "distance",
    128,
    flag="--distance",
    metavar="BYTES",
    help="affinity distance of the recording (default %(default)s)",
)

# To add an option of a sink, add it here.
SINK_OPTIONS: Sequence[SinkOption] = (
    DISTANCE,
    SinkOption(
        "streams",
        0,
        flag="--hot-streams",
        metavar="REFERENCES",
        help="also find hot data streams, in the first REFERENCES accesses (%(const)s if no"
        " number is given), for the strategy hot-streams",
        bare=50_000_000,
        maximum=1 << 31,
        exact=True,
    ),
    # The machine to simulate: `this`, or a file (halo/simulation/machine_file.py).
    SinkOption("machine", "", exact=True, all_accesses=True),
)
