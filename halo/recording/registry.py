"""The list of producers."""

from __future__ import annotations

from collections.abc import Sequence

from halo.errors import MissingPart, UsageError
from halo.recording.llvm import LlvmProducer
from halo.recording.native import NativeProducer
from halo.recording.producer import Producer
from halo.recording.qemu import QemuProducer
from halo.recording.valgrind import ValgrindProducer
from halo.settings import Settings

# To add a producer, add its file and one line here.
PRODUCERS: Sequence[Producer] = (
    ValgrindProducer(),
    QemuProducer(),
    NativeProducer(),
    LlvmProducer(),
)
# The engines that record any program, the preferred one first.
ENGINES: Sequence[Producer] = PRODUCERS[:2]


def find_producer(settings: Settings, name: str | None = None) -> Producer:
    """The producer of that name, or of the settings' name, or the first engine that works here.

    Raises `UsageError` if there is none of that name, `MissingPart` if a part of it is missing.
    """
    name = name or settings.engine_name
    if not name:
        return _first_that_works(settings)
    for producer in PRODUCERS:
        if producer.name == name:
            producer.check(settings)
            return producer
    known = ", ".join(producer.name for producer in PRODUCERS)
    raise UsageError(f"The engine {name} does not exist; the engines are {known}.")


def usable_engines(settings: Settings) -> tuple[list[Producer], dict[str, str]]:
    """The engine of `find_producer`, and the others that record any program, in that order.

    Also why others do not work here, by name.
    """
    found, missing = [find_producer(settings)], {}
    for engine in ENGINES:
        if engine is found[0]:
            continue
        try:
            engine.check(settings)
        except MissingPart as error:
            missing[engine.name] = str(error)
        else:
            found.append(engine)
    return found, missing


def _first_that_works(settings: Settings) -> Producer:
    first: MissingPart | None = None
    for engine in ENGINES:
        try:
            engine.check(settings)
        except MissingPart as missing:
            first = first or missing
        else:
            return engine
    assert first is not None
    raise first
