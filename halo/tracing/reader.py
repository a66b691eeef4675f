"""The native reader of traces, halo-trace (src/record/llvm/main.cc)."""

from __future__ import annotations

from pathlib import Path

from halo.errors import BadInput, MissingPart
from halo.settings import Settings

BAD_TRACE = 3  # its status where there is no trace, a newer or a damaged one


def check_reader(settings: Settings) -> None:
    """MissingPart unless halo-trace is built."""
    if not settings.tracer.is_file():
        raise MissingPart(f"halo-trace is not built ({settings.tracer}); run: make build")


def check_there(trace: Path) -> None:
    """BadInput unless there is something of that name."""
    if not trace.exists():
        raise BadInput(f"There is no {trace}.")
