"""The sink in docs/extending.md is compiled, and a program is recorded with it."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from halo.base.settings import Settings, read_settings
from halo.binary.process.target import Target
from halo.record.parts import Limits, workspace
from halo.record.producer import RecordingJob
from halo.record.profile import merge, merge_parts, read_profile, reader, write_profile, writer
from halo.record.profile.sections.counts import Counts
from halo.record.profile.sections.registry import SECTIONS
from halo.record.run import record
from halo.record.valgrind import ValgrindProducer
from support.command import REPOSITORY, compile_c

# The sources that depend on the list of sinks, as one.
CONSUMER = "\n".join(
    f'#include "{name}.cc"'
    for name in (
        *(
            "recorder/analysis/analysis",
            "recorder/analysis/parameters",
            "recorder/contexts/options",
            "recorder/contexts/output/part_writer",
        ),
        *(
            "recorder/consumer/process_part",
            "recorder/consumer/process_recorder",
            "recorder/consumer/channel_process",
        ),
        *(
            "recorder/consumer/stream_recorder",
            "recorder/consumer/stream_process",
            "recorder/consumer/main",
        ),
    )
)
ACCESSES = """
#include <stdlib.h>
int main(void) {
  volatile char *object = malloc(4096);
  for (int at = 0; at < 4096; at += 16) *(volatile long *)(object + at) = at;
  for (int at = 0; at < 4096; at += 32) (void)object[at];
  return 0;
}
"""


def documented_sink() -> str:
    text = (REPOSITORY / "docs" / "extending.md").read_text()
    code = re.search(r"## A sink\n.*?```cpp\n(.*?)```", text, re.DOTALL)
    assert code is not None
    return code.group(1)


def build_with_sink(settings: Settings, folder: Path) -> Settings:
    """A build whose consumer has the documented sink, too."""
    headers, libraries = folder / "headers" / "recorder" / "analysis", settings.build / "lib"
    headers.mkdir(parents=True)
    (headers / "access_size_sink.h").write_text(documented_sink())
    sinks = (REPOSITORY / "src" / "recorder" / "analysis" / "sink_list.h").read_text()
    sinks = sinks.replace(
        "#include <tuple>\n", '#include <tuple>\n#include "recorder/analysis/access_size_sink.h"\n'
    )
    (headers / "sink_list.h").write_text(
        re.sub(r"(using SinkList =\s*SinkTypes<[^>]*)>", r"\1, AccessSizeSink>", sinks)
    )
    (folder / "bin").mkdir()
    (folder / "lib").symlink_to(libraries)
    archives = [
        str(libraries / f"libhalo-{name}.a")
        for name in ("consumer-core", "record-core", "sinks", "objects", "simulator")
    ]
    command = ["c++", "-std=gnu++20", f"-I{headers.parents[1]}", f"-I{REPOSITORY / 'src'}"]
    command += ["-x", "c++", "-", "-x", "none", *archives]
    command += ["-lzstd", "-pthread", "-o", str(folder / "bin" / "halo-consumer")]
    subprocess.run(command, input=CONSUMER, text=True, check=True, capture_output=True)
    return replace(settings, build=folder)


def test_the_documented_sink_is_compiled_and_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = Counts("access_sizes")
    for module in (merge, reader, writer):
        monkeypatch.setattr(module, "SECTIONS", [*SECTIONS, section])
    settings = build_with_sink(read_settings(), tmp_path / "build")
    program = compile_c(ACCESSES, tmp_path / "program")
    with workspace() as folder:
        job = RecordingJob(Target(program, str(program)), [], Limits(exact=True))
        recording = record(ValgrindProducer(), settings, job, folder, lambda: None)
        profile = merge_parts(recording.parts * 2, program)
    write_profile(profile, tmp_path / "profile")
    assert section.of(read_profile(tmp_path / "profile")) == {"1": 2 * 128, "8": 2 * 256}
