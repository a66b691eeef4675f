"""Starts a Spark session for this process: local, quiet, without a web interface."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from halo.base.errors import MissingPart
from halo.base.settings import JAVA_PACKAGE, read_settings, set_default

_OPTIONS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    # The common dialect: "column" in double quotes is a name, as in DuckDB.
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.session.timeZone": "UTC",
}


def start_session(
    folder: Path, memory: str, threads: int, more: Mapping[str, str] | None = None
) -> Any:
    """A local session that writes only below `folder`; `MissingPart` without Spark or Java."""
    check_java()
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        advice = read_settings().extra_command("spark")
        raise MissingPart(f"--engine spark and --live need PySpark; {advice}") from error
    # PySpark would log each failed query as well as raise it.
    logging.getLogger("SQLQueryContextLogger").disabled = True
    cores = threads or len(os.sched_getaffinity(0))
    options = {
        **_OPTIONS,
        "spark.driver.memory": memory,
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": str(cores),
        **(more or {}),
    }
    builder = SparkSession.builder.master(f"local[{cores}]").appName("halo")
    for key, value in options.items():
        builder = builder.config(key, value)
    # Java would look this machine's name up, which fails if no file or server knows it.
    set_default("SPARK_LOCAL_IP", "127.0.0.1")
    try:
        with _quiet():
            return builder.getOrCreate()
    except Exception as error:
        what = str(error).partition("\n")[0]
        raise MissingPart(f"Spark does not start ({what}); is Java 17 or newer there?") from error


def check_java() -> None:
    """Raises `MissingPart` if there is no Java to run Spark."""
    if shutil.which("java") is None:
        raise MissingPart(
            "--engine spark and --live need Java, which is not in PATH: install a Java runtime,"
            f" for instance Debian's {JAVA_PACKAGE}."
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """Redirects Java's stderr to /dev/null, as errors arrive as exceptions."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
