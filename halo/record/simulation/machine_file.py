"""Converts the user's description of a simulated machine (TOML) to the recorder's form."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NoReturn

from halo.base.errors import BadInput
from halo.record.simulation.latencies import MEMORY_CYCLES, WALK_CYCLES

MAX_LEVELS = 4
MAX_ENTRIES = 1 << 30
PREFETCHERS = ("next-line", "streams")
_SINGLE = {
    "line": "line",
    "page": "page",
    "memory_cycles": "memory",
    "walk_cycles": "walk",
}
_DEFAULTS = {"line": 64, "page": 4096, "memory_cycles": MEMORY_CYCLES, "walk_cycles": WALK_CYCLES}
_LIMITS = {"line": 4096, "page": 1 << 21, "memory_cycles": 10**6, "walk_cycles": 10**6}


_FOLDER = Path(__file__).parent / "machines"


def machine_names() -> list[str]:
    """The names of the machine files that halo has."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def machine_text(path: Path) -> str:
    """A TOML file in the form of src/simulator/machine.h; raises `BadInput` if it is invalid.

    `path` may also be one of `machine_names`, if there is no such file.
    """
    known = _FOLDER / f"{path}.toml"
    return _MachineFile(path if path.exists() or not known.is_file() else known).text()


def prefetches(text: str) -> bool:
    """Whether a machine in the form of `machine_text` has a prefetcher."""
    return any(line.startswith("prefetch ") for line in text.splitlines())


class _MachineFile:
    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._data = tomllib.loads(path.read_text())
        except FileNotFoundError as error:
            known = ", ".join(machine_names())
            raise BadInput(
                f"The machine file {path} does not exist; halo has machines named {known}."
            ) from error
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"The machine file {path} cannot be read: {error}.") from error
        except tomllib.TOMLDecodeError as error:
            raise BadInput(f"The machine file {path} is not TOML: {error}.") from error

    def _bad(self, what: str) -> NoReturn:
        raise BadInput(f"The machine file {self._path} {what}; docs/simulator.md shows one.")

    def text(self) -> str:
        known = {*_SINGLE, "prefetch", "cache", "tlb", "huge_tlb"}
        unknown = sorted(set(self._data) - known)
        if unknown:
            self._bad(f"has an unknown key '{unknown[0]}'")
        single = {key: self._single(key) for key in _SINGLE}
        if single["line"] > single["page"]:
            self._bad("has lines larger than pages")
        lines = [f"{_SINGLE[key]} {value}" for key, value in single.items()]
        lines += [f"prefetch {name}" for name in self._prefetchers()]
        names = []
        for kind, amount, unit in (("cache", "bytes", single["line"]), ("tlb", "pages", 1)):
            levels = self._levels(kind)
            names += [item.get("name") for item in levels if isinstance(item, dict)]
            lines += [f"{kind} {self._level(item, kind, amount, unit)}" for item in levels]
        if len(set(names)) < len(names):
            self._bad("has two levels of one name")
        if "huge_tlb" in self._data:
            lines.append(f"huge {self._shape(self._data['huge_tlb'], 'huge_tlb', 'pages', 1)}")
        return "".join(f"{line}\n" for line in lines)

    def _single(self, key: str) -> int:
        power = key in ("line", "page")
        value = self._count(self._data, key, _LIMITS[key], _DEFAULTS[key], int(power))
        if power and value & (value - 1):
            self._bad(f"has a {key} that is not a power of two")
        return value

    def _prefetchers(self) -> list[str]:
        names = self._data.get("prefetch", [])
        if not isinstance(names, list) or not all(name in PREFETCHERS for name in names):
            self._bad(f"has a prefetch that is not a list of {' and '.join(PREFETCHERS)}")
        return names

    def _levels(self, key: str) -> list[Any]:
        levels = self._data.get(key)
        if not isinstance(levels, list) or not 1 <= len(levels) <= MAX_LEVELS:
            self._bad(f"does not have one to {MAX_LEVELS} entries [[{key}]], first level first")
        return levels

    def _level(self, item: Any, kind: str, amount: str, unit: int) -> str:
        if not isinstance(item, dict):
            self._bad(f"has a {kind} that is not a table")
        name = item.get("name")
        if not isinstance(name, str) or not name.replace("-", "").isalnum() or not name.isascii():
            self._bad(f"has a {kind} whose name is not letters and digits")
        shape = self._shape(item, name, amount, unit, extra=("name", "cycles"))
        return f"{name} {shape} {self._count(item, 'cycles', 10**6, 0)}"

    def _shape(
        self, item: Any, name: str, amount: str, unit: int, extra: tuple[str, ...] = ()
    ) -> str:
        if not isinstance(item, dict) or set(item) - {amount, "ways", *extra}:
            self._bad(f"has a {name} with other keys than {', '.join((*extra, amount, 'ways'))}")
        ways = self._count(item, "ways", 1024)
        entries, rest = divmod(self._count(item, amount, MAX_ENTRIES * unit), unit)
        if ways == 0 or rest or entries == 0 or entries % ways:
            self._bad(f"has a {name} whose {amount} are not a multiple of its ways")
        return f"{entries // ways} {ways}"

    def _count(
        self,
        holder: dict[str, Any],
        key: str,
        maximum: int,
        default: int | None = None,
        minimum: int = 0,
    ) -> int:
        value = holder.get(key, default)
        if type(value) is not int or not minimum <= value <= maximum:
            self._bad(f"has no {key} from {minimum} to {maximum}")
        return value
