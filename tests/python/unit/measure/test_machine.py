"""What the machine of a measurement requires."""

from __future__ import annotations

from pathlib import Path

import pytest

from halo.measure import run
from halo.measure.candidates import HUGE_FROM, Candidate, PlanVariant
from halo.measure.runs.machine import reclaims_freed_memory
from support.samples.findings import GLIBC

BITS = 64


@pytest.mark.parametrize(
    ("kind", "feature", "reclaims"),
    [("0x0005", 5, True), ("0x0005", 1, False), ("0x0002", 5, False)],
)
def test_a_balloon_reclaims_if_it_reports_free_pages(
    tmp_path: Path, kind: str, feature: int, reclaims: bool
) -> None:
    device = tmp_path / "virtio/devices/virtio0"
    device.mkdir(parents=True)
    (device / "device").write_text(f"{kind}\n")
    (device / "features").write_text("".join(str(int(at == feature)) for at in range(BITS)) + "\n")
    assert reclaims_freed_memory(tmp_path) is reclaims


def test_hyper_v_reclaims_and_a_machine_without_a_host_does_not(tmp_path: Path) -> None:
    assert not reclaims_freed_memory(tmp_path)
    (tmp_path / "vmbus/drivers/hv_balloon").mkdir(parents=True)
    assert reclaims_freed_memory(tmp_path)


def test_unseen_devices_are_supposed_to_reclaim(tmp_path: Path) -> None:
    assert reclaims_freed_memory(tmp_path / "missing")


@pytest.mark.parametrize("seconds", [0.0, 3.0])
def test_plans_with_huge_pages_are_special_only_if_they_cool_down(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr(run, "cooldown", lambda: seconds)
    plan = Path("plan")
    variants = {name: PlanVariant(name, "dense") for name in ("none", "huge", "small")}
    candidates = [
        Candidate(variants["none"], GLIBC, None),
        Candidate(variants["huge"], GLIBC, plan, huge_pages=True),
        Candidate(variants["small"], GLIBC, plan),
    ]
    assert bool(run.field_of(candidates).huge_page_users) == bool(seconds)


@pytest.mark.parametrize(
    ("peak_memory", "has_any", "expected"),
    [
        (HUGE_FROM, True, {"huge_min": "0"}),
        (HUGE_FROM - 1, True, {"huge_pages": "never"}),
        (HUGE_FROM, False, {"huge_pages": "never"}),
    ],
)
def test_plans_request_huge_pages_by_the_memory_of_the_run_that_decides(
    monkeypatch: pytest.MonkeyPatch, peak_memory: int, has_any: bool, expected: dict[str, str]
) -> None:
    monkeypatch.setattr("halo.measure.candidates.has_huge_pages", lambda: has_any)
    assert PlanVariant("a", "dense").at_scale(peak_memory).options == expected
    without = PlanVariant("b", "dense", {"huge_pages": "never"})
    assert without.at_scale(peak_memory).options["huge_pages"] == "never"
