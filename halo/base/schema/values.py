"""The values of results: counts, measured numbers and shares, with their limits."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

MAX_NUMBER = 2.0**64

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Seed = Annotated[int, Meta(ge=0)]
Number = Annotated[float, Meta(ge=0, le=MAX_NUMBER)]
Signed = Annotated[float, Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)]
Positive = Annotated[float, Meta(gt=0, le=MAX_NUMBER)]
Share = Annotated[float, Meta(ge=0, le=1)]
Cell = str | int | Signed | bool | None
Quartiles = tuple[Number, Number]
