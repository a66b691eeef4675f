"""The one place that reads the environment: where the build is and what the user has set."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """What halo takes from the environment; everything else comes from the command line."""

    repository: Path
    build: Path
    bench: Path
    qemu: str
    engine_name: str
    debug: bool
    environment: Mapping[str, str]

    @property
    def runtime(self) -> Path:
        return self.build / "lib" / "libhalo.so"

    @property
    def checking_runtime(self) -> Path:
        return self.build / "lib" / "libhalo-check.so"

    @property
    def recorder(self) -> Path:
        return self.build / "lib" / "libhalo-recorder.so"

    @property
    def engine(self) -> Path:
        """The tool of Valgrind's that records."""
        return self.build / "lib" / "valgrind" / "halo-amd64-linux"

    @property
    def consumer(self) -> Path:
        return self.build / "bin" / "halo-consumer"

    @property
    def tracer(self) -> Path:
        return self.build / "bin" / "halo-trace"

    @property
    def command(self) -> str:
        """How to call halo from here, for the commands that it suggests."""
        launcher = self.repository / "bin" / "halo"
        if not launcher.is_file():
            return "halo"
        return "bin/halo" if Path.cwd() == self.repository else str(launcher)

    @property
    def bench_inputs(self) -> Path:
        """Where generators put the inputs of bundled programs."""
        ours = self.bench == self.repository / "bench"
        return (self.build if ours else self.bench) / "inputs"

    @property
    def guest(self) -> Path:
        return self.build / "lib" / "libhalo-guest.so"

    @property
    def detector(self) -> Path:
        return self.build / "lib" / "libdetector.so"

    @property
    def litterer(self) -> Path:
        return self.build / "lib" / "liblitterer.so"


def read_settings() -> Settings:
    """Everything HALO_* that halo itself takes, with its default (docs/cli.md lists them)."""
    repository = Path(__file__).resolve().parents[1]
    environment = dict(os.environ)
    return Settings(
        repository=repository,
        build=Path(environment.get("HALO_BUILD") or repository / "build").absolute(),
        bench=Path(environment.get("HALO_BENCH") or repository / "bench").absolute(),
        qemu=environment.get("HALO_QEMU") or "qemu-x86_64",
        engine_name=environment.get("HALO_ENGINE", ""),
        debug=environment.get("HALO_DEBUG", "") not in ("", "0"),
        environment=environment,
    )
