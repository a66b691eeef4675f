"""The candidate plans of `halo run`: a list of strategies with options, and the plans they make.

`none` is a candidate too and means: no libhalo at all, only the best allocator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from halo.allocators import Allocator, preload, under_plan
from halo.errors import UsageError
from halo.planning import make_plan, save_plan
from halo.profile import Profile
from halo.trials.job import Contender

NONE = "none"
UNDER_PLANS = 2  # next allocators, the fastest first, that plans are tried over


@dataclass(frozen=True)
class Recipe:
    """How to make one plan: a strategy, and options for it and for the plan."""

    label: str
    strategy: str
    options: Mapping[str, str] = field(default_factory=dict)


# To add a candidate, add a line. `random` and `per-site` are controls, not candidates.
RECIPES = (
    Recipe("halo", "halo"),
    Recipe("halo-small-pages", "halo", {"huge_pages": "false"}),
    Recipe("hot-cold", "hot-cold"),
    Recipe("size-affinity", "size-affinity"),
    Recipe("one-pool", "one-pool"),
    Recipe("dense", "dense"),
    Recipe("dense-by-size", "dense", {"by_size": "true"}),
    Recipe("halo-by-size", "halo", {"by_size": "true"}),
    Recipe("dense-small-pages", "dense", {"huge_pages": "false"}),
    Recipe("everything", "everything"),
    Recipe("everything-by-size", "everything", {"by_size": "true"}),
    Recipe(
        "everything-by-size-small-pages", "everything", {"by_size": "true", "huge_pages": "false"}
    ),
)


@dataclass(frozen=True)
class Candidate:
    """A recipe made real for one next allocator; `plan` is None for `none`."""

    recipe: Recipe
    allocator: Allocator
    plan: Path | None
    huge_pages: bool = False  # a group of the plan asks for them

    @property
    def label(self) -> str:
        return f"{self.recipe.label} over {self.allocator.name}"

    def contender(self, environment: Mapping[str, str], runtime: Path, label: str) -> Contender:
        """This candidate as a way to run a job."""
        if self.plan is None:
            return Contender(label, preload(environment, [self.allocator.library]))
        chosen = under_plan(environment, runtime, self.plan, self.allocator)
        return Contender(label, chosen, reports=True, settles=self.huge_pages)


def choose_recipes(names: Sequence[str]) -> list[Recipe]:
    """The recipes of those strategies or labels; all where no name is given."""
    known = {recipe.strategy for recipe in RECIPES} | {recipe.label for recipe in RECIPES}
    unknown = [name for name in names if name not in known | {NONE}]
    if unknown:
        raise UsageError(
            f"There is no candidate '{unknown[0]}'; choose among: {', '.join(sorted(known))}, none."
        )
    return [r for r in RECIPES if not names or r.strategy in names or r.label in names]


def make_plans(
    profile: Profile, recipes: Sequence[Recipe], folder: Path
) -> list[tuple[Recipe, Path, bool]]:
    """Writes each recipe's plan, and says whether it asks for huge pages.

    Leaves out plans that group nothing and those that repeat another.
    """
    made: list[tuple[Recipe, Path, bool]] = []
    seen: set[bytes] = set()
    for recipe in recipes:
        plan = make_plan(profile, recipe.strategy, recipe.options)
        if plan.is_inert:
            continue
        path = folder / f"{recipe.label}.plan"
        save_plan(plan, path)
        content = path.read_bytes()
        if content in seen:
            path.unlink()
            path.with_name(path.name + ".json").unlink(missing_ok=True)
            continue
        seen.add(content)
        made.append((recipe, path, any(group.huge_pages for group in plan.groups)))
    return made


def make_candidates(
    plans: Sequence[tuple[Recipe, Path, bool]], allocators: Sequence[Allocator]
) -> list[Candidate]:
    """`none` over every allocator, then every plan over the first two of them."""
    plain = [Candidate(Recipe(NONE, NONE), allocator, None) for allocator in allocators]
    return plain + [
        Candidate(recipe, allocator, path, huge_pages)
        for allocator in allocators[:UNDER_PLANS]
        for recipe, path, huge_pages in plans
    ]
