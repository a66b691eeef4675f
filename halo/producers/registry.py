"""The list of producers."""

from __future__ import annotations

from collections.abc import Sequence

from halo.producers.llvm import LlvmProducer
from halo.producers.producer import Producer
from halo.producers.qemu import QemuProducer

# To add a producer, add its file and one line here. The first is the default.
PRODUCERS: Sequence[Producer] = (
    QemuProducer(),
    LlvmProducer(),
)


def find_producer(name: str) -> Producer:
    """The producer of that name, which is one of the list."""
    return next(producer for producer in PRODUCERS if producer.name == name)
