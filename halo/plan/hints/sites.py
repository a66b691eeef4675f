"""Rules for hints before the plan has numbered its modules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from halo.plan.hints.rules import HintRule
from halo.plan.model import PlanModule
from halo.profile.model import Module


class SiteHint(NamedTuple):
    """A rule for a call site of `module`; its own number of the module has no meaning yet.

    `contexts` of the profile are those that it places, and `reason` says why, in a few words.
    """

    module: Module
    rule: HintRule
    contexts: tuple[int, ...]
    reason: str


class SiteHints(NamedTuple):
    """The rules of a program; if there are none, `why_none` says why, in a sentence."""

    rules: tuple[SiteHint, ...]
    why_none: str = ""


def number_modules(
    modules: tuple[PlanModule, ...], hints: Iterable[SiteHint]
) -> tuple[tuple[PlanModule, ...], tuple[HintRule, ...]]:
    """The modules, with those of the rules among them, and the rules in the plan's order."""
    known = {module.build_id: at for at, module in enumerate(modules)}
    rules = []
    for hint in hints:
        if hint.module.build_id not in known:
            known[hint.module.build_id] = len(modules)
            modules = (*modules, PlanModule(hint.module.build_id, hint.module.path))
        rules.append(hint.rule._replace(module=known[hint.module.build_id]))
    return modules, tuple(sorted(rules, key=lambda rule: (rule.module, rule.offset)))
