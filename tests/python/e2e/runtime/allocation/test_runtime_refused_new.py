"""operator new, and errno, where memory is refused: rows 18 and 29 of what breaks preloaded
allocators.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from support.planned import run_planned
from support.programs.interface import ALLOCATORS, Recorded, library_of, output_without_us, record

REFUSED = {
    "nothing": ("bad_alloc, 0 calls", "null, 0 calls"),
    "resets": ("bad_alloc, 3 calls", "null, 3 calls"),
    "throws": ("what the handler throws, 1 calls", "null, 1 calls"),
}
FORMS = ("new", "new[]", "aligned new", "aligned new[]")


def outcomes(handler: str) -> set[str]:
    """What the standard says, as lines of the program."""
    throwing, nothrow = REFUSED[handler]
    nothrow_forms = {form.replace("new", "nothrow new") for form in FORMS}
    return {f"{form}: {throwing}" for form in FORMS} | {
        f"{form}: {nothrow}" for form in nothrow_forms
    }


@pytest.fixture(scope="module", params=["dense", "everything"])
def refused(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Recorded:
    return record(tmp_path_factory.mktemp("refused"), "refused_new.cc", request.param)


@pytest.mark.parametrize("allocator", ALLOCATORS)
@pytest.mark.parametrize("handler", REFUSED)
def test_every_form_of_new_when_memory_is_refused(
    refused: Recorded, allocator: str, handler: str
) -> None:
    """Row 18: new handlers, bad_alloc and null pointers, as in the next allocator or better."""
    arguments = (handler, "refuse")
    own = output_without_us(refused.program, *arguments, allocator=allocator)
    run = refused.under(library_of(allocator), arguments=arguments)
    assert run.status in {0, own.returncode}
    allowed = set() if allocator == "glibc" else set(own.stdout.splitlines())
    assert set(run.stdout.splitlines()) <= outcomes(handler) | allowed
    if run.status == 0:
        assert len(run.stdout.splitlines()) == 2 * len(outcomes(handler))
        assert sum(run.allocations) >= 4 * 200


@pytest.mark.parametrize("strategy", ["dense", "everything"])
def test_a_new_handler_can_give_memory_back(tmp_path: Path, strategy: str) -> None:
    """Row 18: when memory has really run out, what the handler frees is allocated again."""
    recorded = record(tmp_path, "recovering_new.cc", strategy)
    command = [str(recorded.program), "until there is no more"]
    run = run_planned(command, recorded.plan, preexec_fn=limited_to(640))
    assert (run.status, run.stdout) == (0, "2 calls, went on\n")
    assert sum(run.allocations) >= 1000


def limited_to(mebibytes: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return record(tmp_path_factory.mktemp("limited"), "limited.c", "dense")


@pytest.mark.parametrize("mebibytes", [200, 640])
def test_errno_when_address_space_is_short(limited: Recorded, mebibytes: int) -> None:
    """Row 29: errno is ENOMEM only when the next allocator has no memory, else unchanged."""
    command = [str(limited.program), "until there is no more"]
    run = run_planned(command, limited.plan, preexec_fn=limited_to(mebibytes))
    assert (run.status, run.stdout) == (0, "fine\n")
    assert mebibytes < 512 or sum(run.allocations) >= 1000
