"""The candidate plans of `halo run`: strategies with options, and the plans that they make.

`none` is a candidate, too: the best allocator without libhalo.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from halo.binary.process.allocator_settings import has_huge_pages
from halo.binary.process.allocators import Allocator, alone
from halo.measure.aging import Litter
from halo.measure.runs.job import Configuration
from halo.plan import review_path
from halo.plan.huge_pages import NEVER
from halo.plan.runtimes import under_plan
from halo.plan.strategies.factory import strategy_named
from halo.plan.strategies.planner import Planner
from halo.plan.strategies.planning import save_plan
from halo.record.profile import Profile
from halo.record.profile.sections.section import Section

NONE = "none"
HUGE_FROM = 32 << 20  # peak memory in bytes, of the input that decides, from which plans are
# tried with huge pages
UNDER_PLANS = 2  # next allocators, the fastest first, that plans are tried over


@dataclass(frozen=True)
class PlanVariant:
    """A way to make one plan: a strategy, and options for it and for the plan."""

    label: str
    strategy: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def needs(self) -> Section[Any] | None:
        """The section of the profile that has to be recorded by an option."""
        return strategy_named(self.strategy).needs

    def limited(self, size: int) -> PlanVariant:
        """The same for objects of at most `size` bytes, unless the strategy has a limit."""
        if strategy_named(self.strategy).largest is not None:
            return self
        limits = {"max_size": f"{size}", "max_object": f"{size}"}
        return replace(self, options={**self.options, **limits})

    def at_scale(self, peak_memory: int) -> PlanVariant:
        """The same for runs with that peak of bytes in memory, whatever that of the recorded one.

        If the variant requests huge pages, and the kernel has any, it does from `HUGE_FROM` on.
        """
        is_large = peak_memory >= HUGE_FROM and has_huge_pages()
        scale = {"huge_min": "0"} if is_large else {"huge_pages": NEVER}
        return replace(self, options={**scale, **self.options})


# To add a candidate, add a line. `random` and `per-site` are controls, not candidates.
USUAL = (
    PlanVariant("halo", "halo"),
    PlanVariant("halo-small-pages", "halo", {"huge_pages": NEVER}),
    PlanVariant("hot-cold", "hot-cold"),
    PlanVariant("size-affinity", "size-affinity"),
    PlanVariant("one-pool", "one-pool"),
    PlanVariant("dense", "dense"),
    PlanVariant("dense-by-size", "dense", {"by_size": "true"}),
    PlanVariant("halo-by-size", "halo", {"by_size": "true"}),
    PlanVariant("dense-small-pages", "dense", {"huge_pages": NEVER}),
    PlanVariant("everything", "everything"),
    PlanVariant("everything-by-size", "everything", {"by_size": "true"}),
    PlanVariant(
        "everything-by-size-small-pages", "everything", {"by_size": "true", "huge_pages": NEVER}
    ),
)
"""Those that need no recording of every access; halo/measure/deep has the others."""


@dataclass(frozen=True)
class Candidate:
    """A variant over one next allocator; `plan` is None for `none`."""

    variant: PlanVariant
    allocator: Allocator
    plan: Path | None
    huge_pages: bool = False  # a group of the plan requests them

    @property
    def label(self) -> str:
        return f"{self.variant.label} over {self.allocator.name}"

    @property
    def uses_huge_pages(self) -> bool:
        return self.huge_pages or self.allocator.has_huge_pages

    def config(
        self,
        environment: Mapping[str, str],
        runtime: Path,
        label: str,
        litter: Litter | None = None,
    ) -> Configuration:
        """The configuration of this candidate; `litter` ages its heap."""
        if self.plan is None:
            plain = alone(environment, self.allocator)
            cooled = self.allocator.has_huge_pages
            return Configuration(label, plain, needs_cooldown=cooled, litter=litter)
        chosen = under_plan(environment, runtime, self.plan, self.allocator)
        return Configuration(
            label, chosen, reports=True, needs_cooldown=self.uses_huge_pages, litter=litter
        )


def printed(label: str) -> str:
    """A candidate's label in printed text: `no plan, jemalloc` for `none over jemalloc`."""
    head, over, allocator = label.partition(" over ")
    return f"no plan, {allocator}" if head == NONE and over else label


def make_plans(
    profile: Profile,
    variants: Sequence[PlanVariant],
    folder: Path,
    source: Path | None = None,
) -> list[tuple[PlanVariant, Path, bool]]:
    """Writes each variant's plan; returns whether it requests huge pages.

    Leaves out plans without groups, duplicates of another, and strategies that need a section that
    was not recorded. The plans name `source`, the file of the profile. If one cannot be written,
    none is left.
    """
    made: list[tuple[PlanVariant, Path, bool]] = []
    try:
        _write_plans(Planner(profile, source), variants, folder, made)
    except BaseException:
        for _, path, _ in made:
            _remove(path)
        raise
    return made


def _write_plans(
    planner: Planner,
    variants: Sequence[PlanVariant],
    folder: Path,
    made: list[tuple[PlanVariant, Path, bool]],
) -> None:
    """Appends each plan that is written to `made`."""
    seen: set[bytes] = set()
    for variant in variants:
        if variant.needs is not None and variant.needs.of(planner.profile) is None:
            continue
        plan = planner.plan(variant.strategy, variant.options)
        if plan.is_inert:
            continue
        path = folder / f"{variant.label}.plan"
        save_plan(plan, path)
        content = path.read_bytes()
        if content in seen:
            _remove(path)
            continue
        seen.add(content)
        made.append((variant, path, any(group.huge_pages for group in plan.groups)))


def _remove(plan: Path) -> None:
    plan.unlink()
    review_path(plan).unlink(missing_ok=True)


def make_candidates(
    plans: Sequence[tuple[PlanVariant, Path, bool]], allocators: Sequence[Allocator]
) -> list[Candidate]:
    """`none` over every allocator, then every plan over the first two of them."""
    plain = [Candidate(PlanVariant(NONE, NONE), allocator, None) for allocator in allocators]
    return plain + [
        Candidate(variant, allocator, path, huge_pages)
        for allocator in allocators[:UNDER_PLANS]
        for variant, path, huge_pages in plans
    ]
