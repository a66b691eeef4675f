"""Parts that only some commands need: compilers for tracing, Spark, and their Python packages."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator, Mapping

from halo.base.settings import JAVA_PACKAGE, read_settings
from halo.ship.doctor.check import CheckState, MachineCheck, judged

COMPILERS = {
    "halo-cc": ("HALO_CLANG", "clang-19"),
    "halo-c++": ("HALO_CLANGXX", "clang++-19"),
}
"""The variable that names the compiler behind each, and the default (scripts/launchers.sh)."""
SPARK = "for --engine spark and --live"


def optional_parts(environment: Mapping[str, str]) -> Iterator[MachineCheck]:
    """Checks of the parts; only a compiler that the user names must be there."""
    search = environment.get("PATH")
    for name, (variable, default) in COMPILERS.items():
        yield _compiler(name, variable, environment.get(variable, ""), default, search)
    java = shutil.which("java", path=search)
    yield MachineCheck(
        "java",
        judged(java is not None, CheckState.OPTIONAL),
        java or f"not installed; {SPARK}",
        f"apt-get install {JAVA_PACKAGE}",
    )
    spark = importlib.util.find_spec("pyspark") is not None
    detail = "there" if spark else f"not installed; {SPARK}"
    yield MachineCheck(
        "python: pyspark",
        judged(spark, CheckState.OPTIONAL),
        detail,
        read_settings().extra_command("spark"),
    )


def _compiler(
    name: str, variable: str, chosen: str, default: str, search: str | None
) -> MachineCheck:
    path = shutil.which(chosen or default, path=search)
    if path is not None:
        return MachineCheck(name, CheckState.OK, f"compiles by {path}")
    if chosen:
        detail = f"{variable} names {chosen}, which is not installed"
        return MachineCheck(name, CheckState.MISSING, detail, f"unset {variable}")
    detail = f"{default} is not installed; for programs to be traced"
    return MachineCheck(name, CheckState.OPTIONAL, detail, "apt-get install clang-19")
