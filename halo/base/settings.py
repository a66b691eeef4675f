"""Reads the environment, for all other modules: the paths of the build and HALO_* variables."""

from __future__ import annotations

import codecs
import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

INSTALLATION = "installation.json"  # written by scripts/install.sh and scripts/packaging/deb.sh


@dataclass(frozen=True)
class Installation:
    """An installed copy: its folder, and what `installation.json` in that folder says."""

    folder: Path  # PREFIX/lib/halo, with lib and bin as in a build folder
    commit: str  # empty if it is not known
    repair: str  # the command that installs the copy again
    packages: str  # the command that installs the Python package {package} for Python {python}


JAVA_PACKAGE = "openjdk-17-jre-headless"  # Debian's, for Spark
EXTRAS = {"learn": "scikit-learn>=1.5,<2", "spark": "pyspark>=4,<5"}
"""Python packages that only some commands need, by their extras in pyproject.toml."""


@dataclass(frozen=True)
class Settings:
    """Settings from the environment; all others come from the command line."""

    repository: Path
    build: Path
    bench: Path
    engine_name: str
    debug: bool
    environment: Mapping[str, str]
    installation: Installation | None = None  # None in a checkout

    @property
    def runtime(self) -> Path:
        return self.build / "lib" / "libhalo.so"

    @property
    def checking_runtime(self) -> Path:
        return self.build / "lib" / "libhalo-check.so"

    @property
    def watch(self) -> Path:
        """The library that watches the spans of the runtime."""
        return self.build / "lib" / "libhalo-watch.so"

    @property
    def engine(self) -> Path:
        """The Valgrind tool that records."""
        return self.build / "lib" / "valgrind" / "halo-amd64-linux"

    @property
    def consumer(self) -> Path:
        return self.build / "bin" / "halo-consumer"

    @property
    def tracer(self) -> Path:
        return self.build / "bin" / "halo-trace"

    @property
    def replayer(self) -> Path:
        return self.build / "bin" / "halo-layout"

    @property
    def locality(self) -> Path:
        return self.build / "bin" / "halo-locality"

    @property
    def predictor(self) -> Path:
        return self.build / "bin" / "halo-predict"

    @property
    def stream_maker(self) -> Path:
        return self.build / "bin" / "halo-corun-stream"

    @property
    def effects(self) -> Path:
        """The program that tells whether two runs of another one would disturb each other."""
        return self.build / "bin" / "halo-effects"

    @property
    def mixer(self) -> Path:
        return self.build / "bin" / "halo-corun"

    @property
    def repair(self) -> str:
        """The command that brings missing parts of halo."""
        return self.installation.repair if self.installation else "make build"

    def package_command(self, name: str) -> str:
        """The command that installs a Python package that halo uses."""
        if self.installation is None:
            return "make build"
        python = ".".join(map(str, sys.version_info[:2]))
        return self.installation.packages.format(package=shlex.quote(name), python=python)

    def extra_command(self, extra: str) -> str:
        """How to install the package of an extra; `halo` in package registries is not this one."""
        if self.installation is not None and "{package}" in self.installation.packages:
            return f"run: {self.package_command(EXTRAS[extra])}"
        if self.installation is None and (self.repository / "pyproject.toml").is_file():
            return f"in {self.repository}, run: .venv/bin/pip install -e '.[{extra}]'"
        return f"run: {sys.executable} -m pip install {shlex.quote(EXTRAS[extra])}"

    @property
    def encoding(self) -> str:
        """The encoding of the user's locale, ASCII in the locale C.

        UTF-8 if none is set, or one in which ASCII is something else, as no locale has it.
        """
        variables = ("LC_ALL", "LC_CTYPE", "LANG")
        locale = next(filter(None, map(self.environment.get, variables)), "")
        if locale in ("C", "POSIX"):
            return "ascii"
        ascii = "".join(map(chr, range(128)))
        with suppress(LookupError, UnicodeError):
            name = codecs.lookup(locale.partition(".")[2].partition("@")[0]).name
            if ascii.encode(name) == ascii.encode():
                return name
        return "utf-8"

    @property
    def command(self) -> str:
        """The command that starts halo in this directory, for suggested commands."""
        installed = self.installation.folder.parents[1] if self.installation else None
        launcher = (installed or self.repository) / "bin" / "halo"
        if not launcher.is_file():
            return "halo"
        if installed is not None:
            found = shutil.which("halo", path=self.environment.get("PATH"))
            return "halo" if found and launcher.samefile(found) else str(launcher)
        return "bin/halo" if Path.cwd() == self.repository else str(launcher)

    @property
    def bench_inputs(self) -> Path:
        """The folder into which generators write the inputs of bundled programs."""
        ours = self.bench == self.repository / "bench" / "programs"
        return (self.build if ours else self.bench) / "inputs"

    @property
    def guest(self) -> Path:
        return self.build / "lib" / "libhalo-guest.so"

    @property
    def native_guest(self) -> Path:
        return self.build / "lib" / "libhalo-native-guest.so"

    @property
    def detector(self) -> Path:
        return self.build / "lib" / "libhalo-detector.so"

    @property
    def litterer(self) -> Path:
        return self.build / "lib" / "libhalo-litterer.so"


def read_settings() -> Settings:
    """All HALO_* variables of halo itself, or their defaults (docs/cli.md lists them)."""
    repository = Path(__file__).resolve().parents[2]
    installation = _find_installation(repository)
    build = installation.folder if installation else repository / "build"
    environment = _users_environment()
    return Settings(
        repository=repository,
        build=Path(environment.get("HALO_BUILD") or build).absolute(),
        bench=Path(environment.get("HALO_BENCH") or repository / "bench" / "programs").absolute(),
        engine_name=environment.get("HALO_ENGINE", ""),
        debug=environment.get("HALO_DEBUG", "") not in ("", "0"),
        environment=environment,
        installation=installation,
    )


def _users_environment() -> dict[str, str]:
    """What this process got: for the locale C, Python changes LC_CTYPE by itself (PEP 538)."""
    found = dict(os.environ)
    if found.get("LC_CTYPE") in ("C.UTF-8", "C.utf8", "UTF-8"):
        with suppress(OSError):
            at_start = Path("/proc/self/environ").read_bytes().split(b"\0")
            mine = next((word for word in at_start if word.startswith(b"LC_CTYPE=")), b"")
            found["LC_CTYPE"] = os.fsdecode(mine.partition(b"=")[2])
            if not mine:
                del found["LC_CTYPE"]
    return found


def _find_installation(repository: Path) -> Installation | None:
    """The installed copy that the package is in; None in a checkout."""
    if (repository / "pyproject.toml").is_file():
        return None
    for folder in repository.parents:
        file = folder / INSTALLATION
        if file.is_file():
            return Installation(folder, **json.loads(file.read_text()))
    return None


def cache_folder() -> Path | None:
    """The folder `halo` of the user's caches (XDG Base Directory); None without a home."""
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:
        return None
    return base / "halo" if base.is_absolute() else None


def set_default(name: str, value: str) -> None:
    """Sets a variable that a library reads itself, unless the user has set it."""
    os.environ.setdefault(name, value)
