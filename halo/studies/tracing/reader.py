"""Checks for the native reader of traces, halo-trace (src/tracing/tool/main.cc)."""

from __future__ import annotations

from pathlib import Path

from halo.base.errors import BadInput, BadTrace, MissingPart
from halo.base.files.kinds import TRACE, refuse_other
from halo.base.settings import Settings


def check_reader(settings: Settings) -> None:
    """Raises `MissingPart` unless halo-trace is built."""
    if not settings.tracer.is_file():
        raise MissingPart(f"halo-trace is not built ({settings.tracer}); run: make build")


def check_there(trace: Path) -> None:
    """Raises `BadInput` unless the file exists, `BadTrace` if it is another of halo's files."""
    if not trace.exists():
        raise BadInput(f"{trace} does not exist.")
    refuse_other(trace, BadTrace, TRACE)
