"""The options of sinks, for the recorder and for `halo record`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class SinkOption:
    """An option by the recorder's `name`; an empty value is not passed on.

    `flag` is the option of `halo record`, if any; `bare` is its value if it is given without one.
    A `machine` is `this`, or a file in the recorder's form; users give a machine file, or a name.
    With a `file`, the recorder gets the path of a file of that name in the folder of the parts, if
    the value is 1; users give no value.
    """

    name: str
    default: int | str
    flag: str = ""
    metavar: str = ""
    help: str = ""
    bare: int | str | None = None
    maximum: int | None = None
    machine: bool = False
    exact: bool = False  # if given, requires all accesses to tracked objects, not bursts
    all_accesses: bool = False  # if given, also requires accesses outside tracked objects
    file: str = ""


DISTANCE = SinkOption(
    "distance",
    128,
    flag="--distance",
    metavar="BYTES",
    help="affinity distance of the recording (default %(default)s)",
)

OBJECTS = SinkOption(
    "objects",
    0,
    flag="--objects",
    help="also keep all accesses by object, in a file next to PROFILE that ends in .objects, for"
    " the strategy search",
    exact=True,
    all_accesses=True,
    file="recorded.objects",
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
    SinkOption("machine", "", machine=True, exact=True, all_accesses=True),
    SinkOption("classes", 0, maximum=1),
    OBJECTS,
    SinkOption("phase", ""),
    SinkOption("sweep", 0, maximum=1, exact=True, all_accesses=True),
    SinkOption(
        "conflicts",
        "",
        flag="--conflicts",
        metavar="MACHINE",
        help="also record which objects compete for sets of the first cache of MACHINE, a machine"
        " file or a name as in `halo study eval simulate` (this machine if none is given), for the"
        " strategy conflict; follows objects of up to 16 KiB",
        bare="this",
        machine=True,
        exact=True,
        all_accesses=True,
    ),
    SinkOption("conflicts_every_use", 0, maximum=1),
)
