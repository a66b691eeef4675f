"""Runs `halo-colours`, and says what its times mean."""

from __future__ import annotations

import subprocess

import msgspec

from halo.base.errors import HaloError, MissingPart
from halo.base.settings import Settings
from halo.studies.pollution.colours.document import ColoursDocument, LevelTimes

MIN_EFFECT = 1.15
"""Of the times of loads from one colour and from all colours. Repeated tests differ by 10 %."""
_HIDDEN = 3


def measure_colours(settings: Settings) -> ColoursDocument:
    """Chases pages of one colour and of all colours; takes less than two seconds.

    `MissingPart` if the kernel hides the frames of pages.
    """
    tool = settings.build / "bin" / "halo-colours"
    if not tool.is_file():
        raise MissingPart(f"halo-colours is not built ({tool}); run: make build")
    done = subprocess.run([tool], capture_output=True, text=True)
    said = done.stderr.strip()
    if done.returncode == _HIDDEN:
        raise MissingPart(f"{said[:1].upper()}{said[1:]}.")
    if done.returncode != 0:
        raise HaloError(f"halo-colours failed: {said or f'status {done.returncode}'}.")
    return msgspec.json.decode(done.stdout, type=ColoursDocument)


def has_effect(level: LevelTimes) -> bool:
    return level.tested and level.same_ns >= MIN_EFFECT * level.spread_ns


def verdict(document: ColoursDocument) -> str:
    """One sentence."""
    found = [level.name for level in document.levels if has_effect(level)]
    if found:
        return f"Page colours have an effect on this machine, in {', '.join(found)}."
    if not any(level.tested for level in document.levels):
        return "Page colours cannot be tested on this machine."
    return "Guest page colours have no effect on this machine."


def describe(level: LevelTimes) -> str:
    """One line."""
    if not level.tested:
        return f"{level.name}: not tested; frames do not tell its sets, or a colour is too large"
    return (
        f"{level.name}, {level.colours} colours: {level.same_ns:.1f} ns a load from"
        f" {level.pages} pages of one colour, {level.spread_ns:.1f} ns from pages of all colours"
    )
