"""The list of producers."""

from __future__ import annotations

from collections.abc import Sequence

from halo.base.errors import MissingPart, UsageError
from halo.base.settings import Settings
from halo.record.producer import Producer
from halo.registry import ENGINES as ENTRIES
from halo.registry import load

PRODUCERS: Sequence[Producer] = load(ENTRIES)
# The engines that record any program, the preferred one first.
ENGINES: Sequence[Producer] = [it for it in PRODUCERS if it.records_any_program]
# Those that can record everything.
EXACT_ENGINES: Sequence[Producer] = [it for it in ENGINES if it.records_everything]
BURSTS_ONLY = {it.name for it in PRODUCERS if not it.records_everything}


def find_producer(
    settings: Settings, name: str | None = None, everything: bool = False
) -> Producer:
    """The producer of that name, or of the settings' name, or the first engine that works here.

    `everything`: the first one that records all accesses; the settings' name then counts if its
    producer does.
    Raises `UsageError` if there is none of that name, `MissingPart` if a part of it is missing.
    """
    if name is None and not (everything and settings.engine_name in BURSTS_ONLY):
        name = settings.engine_name
    if not name:
        return _first_that_works(settings, EXACT_ENGINES if everything else ENGINES)
    for producer in PRODUCERS:
        if producer.name == name:
            producer.check(settings)
            return producer
    known = ", ".join(producer.name for producer in PRODUCERS)
    raise UsageError(f"The engine {name} does not exist; the engines are {known}.")


def usable_engines(
    settings: Settings, everything: bool = False
) -> tuple[list[Producer], dict[str, str]]:
    """The engine of `find_producer`, and the others that record any program, in that order.

    Also why others do not work here, by name.
    """
    found, missing = [find_producer(settings, everything=everything)], {}
    for engine in EXACT_ENGINES if everything else ENGINES:
        if engine is found[0]:
            continue
        try:
            engine.check(settings)
        except MissingPart as error:
            missing[engine.name] = str(error)
        else:
            found.append(engine)
    return found, missing


def _first_that_works(settings: Settings, engines: Sequence[Producer]) -> Producer:
    first: MissingPart | None = None
    for engine in engines:
        try:
            engine.check(settings)
        except MissingPart as missing:
            first = first or missing
        else:
            return engine
    assert first is not None
    raise first
