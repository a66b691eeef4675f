"""The rules of a plan for learnt hints."""

from __future__ import annotations

from collections.abc import Sequence

from halo.captured.learn import KindHint
from halo.captured.sites import CallSite
from halo.hints.contexts import Fields, fields_of, with_shared_widths
from halo.locations import value_at
from halo.locations.program import pack
from halo.plan.hints.layout import MAX_HINT_CONTEXTS
from halo.plan.hints.rules import ITSELF, HintKey, HintOperation, HintRule
from halo.plan.hints.sites import SiteHint
from halo.schema.hints import HintDimension

_POINTER_BYTES = 8


def site_hints(found: Sequence[KindHint]) -> tuple[SiteHint, ...]:
    """A rule for each call site; kinds whose hints are values of the same fields share memory.

    Kinds beyond the last context have none.
    """
    contexts: dict[Fields, int] = {}
    rules = []
    hints = with_shared_widths([one.hint for one in found])
    for one, hint in zip(found, hints, strict=True):
        context = contexts.setdefault(fields_of(hint), len(contexts))
        if context >= MAX_HINT_CONTEXTS:
            break
        for site in one.kind.sites:
            rule = _rule(site, hint, context)
            reason = (
                f"by {_text(hint)}: {one.hinted:.0%} of the neighbours are used together,"
                f" {one.allocated:.0%} in the order of allocation"
            )
            rules.append(SiteHint(site.module, rule, site.contexts, reason))
    return tuple(rules)


def _text(hint: Sequence[HintDimension]) -> str:
    return " and ".join(f"{one.field} ({one.scalar}), intervals of {one.width:g}" for one in hint)


def _rule(site: CallSite, hint: Sequence[HintDimension], context: int) -> HintRule:
    return HintRule(
        module=0,
        offset=site.offset,
        bytes=site.bytes,
        frame_bytes=site.stores.frame_bytes,
        context=context,
        keys=tuple(_key(site, one) for one in hint),
        avoids_frame=site.stores.stores_to_frame,
    )


def _key(site: CallSite, one: HintDimension) -> HintKey:
    is_behind = len(one.path) > 1
    width = _POINTER_BYTES if is_behind else int(one.scalar[1:]) // 8
    program = value_at(site.stores, one.path[0], width)
    assert program is not None  # as its kind's fields say
    operations = tuple(HintOperation(*pack(operation)) for operation in program)
    return HintKey(one.width, one.scalar, one.path[1] if is_behind else ITSELF, operations)
