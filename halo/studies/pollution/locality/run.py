"""Runs `halo-locality` on an object trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from halo.base.errors import MissingPart
from halo.base.settings import Settings
from halo.binary.process.native_tool import output_for_trace
from halo.studies.pollution.locality.document import Locality


@dataclass(frozen=True)
class Options:
    """`machine` is the recorder's form of a machine file; empty: this machine.

    The program counts as one that runs for `seconds`, by default one each time that the misses fill
    the last level. Objects below `min_bytes` are not watched. The pages of about `draws` random
    accesses are judged, with the clock of pages by one page of `page_rate`. 0 is the default.
    """

    machine: str = ""
    seconds: int = 0
    draws: int = 0
    page_rate: int = 0
    min_bytes: int = 0


def check_built(settings: Settings) -> None:
    """Raises `MissingPart` unless halo-locality is built."""
    if not settings.locality.is_file():
        raise MissingPart(f"halo-locality is not built ({settings.locality}); run: make build")


def locality_of(settings: Settings, trace: Path, options: Options, folder: Path) -> Locality:
    """What the trace shows; `BadTrace` if it is missing or damaged.

    `folder` is for the machine's description.
    """
    command = [str(settings.locality)]
    if options.machine:
        (folder / "machine").write_text(options.machine)
        command.append(f"--machine={folder / 'machine'}")
    numbers = {
        "seconds": options.seconds,
        "draws": options.draws,
        "page-rate": options.page_rate,
        "min-bytes": options.min_bytes,
    }
    command += [f"--{name}={number}" for name, number in numbers.items() if number]
    return msgspec.json.decode(output_for_trace(command, trace), type=Locality)


def with_names(found: Locality, names: Mapping[int, str]) -> Locality:
    """The same with names of contexts, by their numbers."""
    contexts = tuple(
        msgspec.structs.replace(context, name=names.get(number, ""))
        for number, context in enumerate(found.contexts)
    )
    return msgspec.structs.replace(found, contexts=contexts)
