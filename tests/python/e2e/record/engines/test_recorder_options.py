"""Options of the recorder, paths, limits, progress, and merged repeats."""

from __future__ import annotations

import os
import struct

import pytest

from support.recordings import (
    COUNTING,
    Workshop,
    allocates,
    contexts_of,
)


def test_a_path_that_is_not_utf8(workshop: Workshop) -> None:
    folder = workshop.folder / os.fsdecode(b"sm\xc3\xb8r\xff\xed\xa0\x80")
    folder.mkdir()
    binary = workshop.build(COUNTING).rename(folder / "prog")
    part = workshop.record(binary).part
    shown = f"{workshop.folder}/sm\u00f8r" + 4 * "\ufffd" + "/prog"
    assert shown in [module["path"] for module in part["modules"]]


def test_progress_file(workshop: Workshop) -> None:
    binary = workshop.build(COUNTING)
    progress = workshop.folder / "progress"
    recording = workshop.record(binary, options=[f"progress={progress}"])
    magic, objects, accesses, instructions, elapsed = struct.unpack("<5Q", progress.read_bytes())
    assert magic == int.from_bytes(b"HLOPROG1", "little")
    assert objects == recording.part["totals"]["allocations"]
    assert accesses > 0 and elapsed > 0
    assert instructions == 0, "they are counted when caches are simulated"


FIELDS = """
#include <stdlib.h>
struct item { long a, b, c, d, e, f; };
struct item *make(void) { return malloc(sizeof(struct item)); }
struct item *other(void) { return malloc(sizeof(struct item)); }
int main(void) {
  volatile struct item *one = make(), *two = other();
  for (int i = 0; i < 1000; i++) {
    one->a++; one->b++; one->a++; one->c++; one->d++; one->e++; one->f++;
    two->e++; two->f++; two->e++; two->b++;
  }
}
"""


def test_merging_repeats_changes_no_result(workshop: Workshop) -> None:
    binary = workshop.build(FIELDS)
    merged, full = (workshop.record(binary, options=[f"merge={m}"]).part for m in ("on", "off"))
    for part in (merged, full):
        del part["pid"], part["recorder"]
        [make] = contexts_of(part, binary, "make")
        assert make["accesses"] == 1000
        assert part["totals"]["machine_accesses"] >= 10 * part["totals"]["accesses"]
    assert merged == full


def test_merged_repeats_travel_as_one_record(workshop: Workshop) -> None:
    """So that the test above compares two different streams."""
    binary, progress = workshop.build(FIELDS), workshop.folder / "progress"
    records = []
    for merge in ("on", "off"):
        workshop.record(binary, options=[f"merge={merge}", f"progress={progress}"])
        records.append(struct.unpack("<5Q", progress.read_bytes())[2])
    assert 0 < 2 * records[0] < records[1]


BAD_OPTIONS = ["distance=x", "nonsense=1", "max_object=99999999999", "merge=foo"]


@pytest.mark.parametrize("option", BAD_OPTIONS)
def test_bad_options_are_refused(workshop: Workshop, option: str) -> None:
    recording = workshop.record("/bin/true", options=[option])
    assert recording.run.returncode != 0
    assert recording.run.stderr.startswith("halo-recorder: not understood: ")


def test_a_relative_out_survives_a_change_of_directory(workshop: Workshop) -> None:
    binary = workshop.build("""
        #include <stdlib.h>
        #include <unistd.h>
        int main(void) { *(volatile char *)malloc(77) = 1; return chdir("/"); }
    """)
    recording = workshop.record(binary, out="part")
    assert recording.run.returncode == 0
    assert allocates(recording.part, 77)


def test_little_address_space_is_enough_for_the_translator(workshop: Workshop) -> None:
    binary = workshop.build(COUNTING)
    recording = workshop.record(binary, limit=1 << 30)
    assert recording.run.returncode == 42
    assert recording.part["totals"]["accesses"] > 0
