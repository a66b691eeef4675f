"""halo's files are told apart by their beginning, and a file of the wrong kind is named."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from halo.base.errors import BadPlan, BadProfile
from halo.base.files.kinds import PLAN, PROFILE, kind_of, refuse_other
from halo.base.schema.results import FORMAT as RESULTS_FORMAT
from halo.plan import read_plan, write_plan
from halo.plan.builder import build_plan
from halo.plan.grouping import Group, Grouping
from halo.plan.layout import MAGIC as PLAN_MAGIC
from halo.record.profile import read_profile, write_profile
from halo.studies.pollution.corun.stream_format import STREAM_MAGIC
from halo.studies.tracing.frames import MAGIC as TRACE_MAGIC
from support.samples.plan import Sample


def document(name: str) -> bytes:
    return json.dumps({"format": name, "version": 1}, indent=2).encode()


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (PLAN_MAGIC + b"\0" * 9, "plan"),
        (TRACE_MAGIC, "trace"),
        (b"halo-obj\1", "object trace"),
        (STREAM_MAGIC, "stream of requests"),
        (document("halo-profile"), "profile"),
        (gzip.compress(document("halo-profile"), mtime=0), "profile"),
        (gzip.compress(document("halo-profile"), mtime=0)[:-12], "profile"),
        (document("halo-plan"), "plan in its form for review"),
        (document(RESULTS_FORMAT), "results file"),
        (document("halo-coverage"), "coverage document"),
        (document("other"), ""),
        (b"", ""),
        (b"\x1f\x8bnot gzip", ""),
        (b'"format": "halo-profile"', ""),
        (b"\x7fELF", ""),
    ],
)
def test_the_kind_of_a_file_is_in_its_beginning(content: bytes, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert kind_of(path) == kind


def test_what_cannot_be_read_has_no_kind(tmp_path: Path) -> None:
    assert kind_of(tmp_path) == kind_of(tmp_path / "missing") == ""
    os.mkfifo(tmp_path / "pipe")
    refuse_other(tmp_path / "pipe", BadPlan, PLAN)  # opening it would wait for a writer


def test_real_files_are_named_where_others_are_wanted(tmp_path: Path) -> None:
    sample = Sample()
    sample.add([16, 32])
    write_profile(sample.profile(), profile := tmp_path / "x.profile")
    write_plan(
        build_plan(sample.profile(), Grouping("test", (Group((0,), "because"),))),
        plan := tmp_path / "x.plan",
    )
    for path in (profile, plan):
        refuse_other(path, BadPlan, PROFILE, PLAN)
    with pytest.raises(BadProfile, match=f"^{plan} is a halo plan, not a profile; profiles are"):
        read_profile(plan)
    with pytest.raises(BadPlan, match=f"^{profile} is a halo profile, not a plan; plans are"):
        read_plan(profile)
    with pytest.raises(BadPlan, match=f"form for review, not a plan; give .* {plan}$"):
        read_plan(f"{plan}.json")
