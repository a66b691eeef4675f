"""Which native tests the sanitizer builds have (CMakePresets.json)."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from support.command import BUILD, REPOSITORY

WITHOUT_THREAD_SANITIZER = {
    "frames-tests",  # a page that the sanitizer's runtime accesses may wait for the server
    "traps-tests",  # so here
    "native-tests",  # they translate the code of the sanitizer's runtime, and need its signals
}
STARTS_THREADS = re.compile(r"\b(pthread_create|thrd_create|\w*_M_start_thread\w*)\b")


def targets(preset: str) -> set[str]:
    found = json.loads((REPOSITORY / "CMakePresets.json").read_text())["buildPresets"]
    return set(next(build["targets"] for build in found if build["name"] == preset))


def starts_threads(binary: Path) -> bool:
    """Whether it imports what creates a thread."""
    command = ["nm", "--dynamic", "--undefined-only", str(binary)]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return STARTS_THREADS.search(listed) is not None


def test_thread_sanitizer_runs_all_tests_that_create_threads() -> None:
    tests = [path for path in (BUILD / "bin").iterdir() if re.search(r"[-_]tests?$", path.name)]
    threaded = {path.name for path in tests if starts_threads(path)} - WITHOUT_THREAD_SANITIZER
    assert threaded and threaded == targets("tsan")
    assert targets("tsan") <= targets("asan")
