"""The allocators that halo is compared with and forwards to: names, libraries, environments."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from halo.base.errors import MissingPart, UsageError
from halo.binary.process.allocator_settings import Needs, Setting, known_settings

PLAN_VARIABLE = "HALO_PLAN"  # names the plan to the runtime
LIBRARY_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu",
    "/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/local/lib",
)


GLIBC = "glibc"  # the C library's own: no library to preload

# The baseline allocators, and their libraries' names in the releases of Debian, of which the first
# existing one counts. glibc's allocator has no separate library.
KNOWN: Mapping[str, Sequence[str]] = {
    GLIBC: (),
    "jemalloc": ("libjemalloc.so.2",),
    "mimalloc": ("libmimalloc.so.2.0", "libmimalloc.so.3"),
    "tcmalloc": ("libtcmalloc_minimal.so.4",),
}


@dataclass(frozen=True)
class Allocator:
    """An installed allocator: a name, and the library to preload (none for the program's own).

    `own` is the library with the malloc that a program has without halo, if that is not the C
    library; `named`: it has it by the user's LD_PRELOAD. The `name` ends in that of the setting, if
    it has one: `mimalloc:huge-pages`.
    """

    name: str
    library: Path | None
    own: Path | None = None
    named: bool = False
    setting: Setting | None = None

    @property
    def option(self) -> str:
        """What `find_allocator` finds it by."""
        plain = self.name if self.setting is None else self.name.rpartition(":")[0]
        if self.own is not None:
            found = str(self.own) if self.named or self.setting is not None else GLIBC
        else:
            found = plain if self.library is None or plain in KNOWN else str(self.library)
        return found if self.setting is None else f"{found}:{self.setting.name}"

    @property
    def variables(self) -> Mapping[str, str]:
        """Those of its setting."""
        return {} if self.setting is None else self.setting.variables

    @property
    def has_huge_pages(self) -> bool:
        """Whether its setting requests huge pages."""
        return self.setting is not None and self.setting.needs is Needs.HUGE_PAGES

    def under(self, setting: Setting) -> Allocator:
        """The same allocator with that setting."""
        return replace(self, name=f"{self.name}:{setting.name}", setting=setting)


GLIBC_ALONE = Allocator(GLIBC, None)


def find_allocator(name: str) -> Allocator:
    """The allocator of that name, or the library at that path; `MissingPart` has the remedy.

    A setting may follow: `mimalloc:huge-pages`.
    """
    plain, colon, setting = name.rpartition(":")
    if colon and "/" not in setting and not Path(name).is_file():
        return _with_setting(find_allocator(plain), setting)
    if name in KNOWN:
        return _find_known(name, KNOWN[name])
    if "/" not in name:
        raise UsageError(
            f"The allocator '{name}' is unknown; choose one of {', '.join(KNOWN)} or give the path"
            " of a library."
        )
    path = Path(name).absolute()
    if not path.is_file():
        raise MissingPart(
            f"The allocator library {name} does not exist; give the path of a shared library."
        )
    if any(character in str(path) for character in ": "):
        raise UsageError(
            f"The path {path} holds a colon or a space, which LD_PRELOAD cannot express; move or"
            " link the library to another path."
        )
    return Allocator(path.name, path)


def _with_setting(allocator: Allocator, name: str) -> Allocator:
    known = known_settings(allocator.library) if allocator.setting is None else []
    for setting in known:
        if setting.name == name:
            return allocator.under(setting)
    names = ", ".join(setting.name for setting in known) or "none"
    raise UsageError(
        f"The setting '{name}' of {allocator.name} is unknown; this version knows: {names}."
    )


def _find_known(name: str, libraries: Sequence[str]) -> Allocator:
    if not libraries:
        return Allocator(name, None)
    for library in libraries:
        for folder in LIBRARY_FOLDERS:
            path = Path(folder) / library
            if path.is_file():
                return Allocator(name, path)
    raise MissingPart(f"The allocator {name} is not installed; install it with: make setup")


def baseline_allocators(native: Allocator = GLIBC_ALONE) -> list[Allocator]:
    """The program's own, then jemalloc, mimalloc and tcmalloc, but none of them twice."""
    others = [find_allocator(name) for name, libraries in KNOWN.items() if libraries]
    if native.own is None:
        return [native, *others]
    own = native.own.resolve()
    return [native, *(it for it in others if it.library and it.library.resolve() != own)]


def preload(environment: Mapping[str, str], libraries: Sequence[Path | None]) -> dict[str, str]:
    """The environment with these libraries preloaded, ahead of the user's own."""
    result = dict(environment)
    users = result.pop("LD_PRELOAD", "")
    parts = [os.fspath(library) for library in libraries if library is not None]
    if users:
        parts.append(users)
    if parts:
        result["LD_PRELOAD"] = ":".join(parts)
    return result


def alone(environment: Mapping[str, str], allocator: Allocator) -> dict[str, str]:
    """The environment in which a program runs under that allocator, with its setting."""
    return preload(environment, [allocator.library]) | dict(allocator.variables)
