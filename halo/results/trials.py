"""The trials of a results file: every run of every contender, in seconds and bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from halo.results.document import Damaged, count, mapping, number, rows
from halo.results.model import Pool, Trial, Trials


def parse_trials(raw: Any, what: str) -> Trials:
    """The trials of each label; `Damaged` names what is wrong."""
    return {
        label: parse_series(found, f"{what}.{label}") for label, found in mapping(raw, what).items()
    }


def parse_series(raw: Any, what: str) -> Sequence[Trial]:
    """The trials of one contender, in the order of the rounds; `Damaged` names what is wrong."""
    return tuple(_trial(mapping(found, what), what) for found in rows(raw, what))


def _trial(raw: Mapping[str, Any], what: str) -> Trial:
    wall = number(raw.get("wall"), f"{what}: wall")
    if not wall:
        raise Damaged(f"{what} has a run that took no time")
    runtime = mapping(raw.get("runtime") or {}, f"{what}: runtime")
    counters = mapping(raw.get("counters") or {}, f"{what}: counters")
    return Trial(
        wall=wall,
        user=number(raw.get("user"), f"{what}: user"),
        system=number(raw.get("system"), f"{what}: system"),
        peak_memory=count(raw.get("peak_memory"), f"{what}: peak_memory"),
        minor_faults=count(raw.get("minor_faults", 0), f"{what}: minor_faults"),
        pools=tuple(
            _pool(mapping(group, f"{what}: a group"), f"{what}: a group")
            for group in rows(runtime.get("groups", []), f"{what}: groups")
        ),
        counters={name: number(it, f"{what}: {name}") for name, it in counters.items()},
        status=count(raw.get("status", 0), f"{what}: status"),
    )


def _pool(raw: Mapping[str, Any], what: str) -> Pool:
    return Pool(
        peak_bytes=count(raw.get("peak_bytes"), f"{what}.peak_bytes"),
        peak_resident_bytes=count(raw.get("peak_resident_bytes"), f"{what}.peak_resident_bytes"),
        live_at_peak_bytes=count(raw.get("live_at_peak_bytes"), f"{what}.live_at_peak_bytes"),
    )
