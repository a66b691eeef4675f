"""Builds a plan from a profile and a grouping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType

from halo.base.errors import BadInput
from halo.plan.alignment import BY_SIZE, Aligner, ProofSource, proof_of_program
from halo.plan.callsites import CallSites, RuleSource, rule_from_file
from halo.plan.digests import refuse_unlike, with_layout
from halo.plan.grouping import Grouping
from halo.plan.huge_pages import CHOICES, HOT, NEVER, requesting
from halo.plan.layout import (
    MAX_GROUPS,
    MAX_MODULES,
    MAX_OBJECT_LIMIT,
    MAX_STATES,
    MAX_WAY,
    MIN_WAY,
    REUSE_NEWEST_FIRST,
    REUSE_WHOLE_CHUNKS,
    RULE_END,
    VERDICT_FORWARD,
    VERDICT_UNDECIDED,
)
from halo.plan.model import (
    DEFAULT_WAY,
    MAX_STEPS,
    Identification,
    PageLayout,
    Plan,
    PlanGroup,
    PlanModule,
    Review,
    State,
)
from halo.plan.options import option, parse_options
from halo.plan.random_pools import drawing_plan
from halo.plan.redirection import ObstacleSource, obstacle_in_file
from halo.plan.review.groups import NameSource, review_groups
from halo.plan.review.ids import context_ids
from halo.plan.selectors import make_selectors
from halo.plan.trie import Draft, Trie, TrieBuilder, TrieLimits, prune, rbp_to_restore
from halo.record.profile import name_frames
from halo.record.profile.model import Profile
from halo.record.profile.recorded import recorded_program

_DEFAULT_MAX_OBJECT = 4096
_REUSE = {"newest": REUSE_NEWEST_FIRST, "chunks": REUSE_WHOLE_CHUNKS}
_NO_OPTIONS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class PlanOptions:
    """The options of `build_plan`; each has a default."""

    simplify: float = option(
        0.0,
        "maximum share of accesses and allocations that a simplified state may label wrongly",
        0,
        1,
    )
    max_object: int = option(
        0, "size of the largest object to group; 0: as recorded", 0, MAX_OBJECT_LIMIT
    )
    huge_pages: str = option(
        HOT,
        "groups that request huge pages: never; hot: those with many accesses for their size; all",
        choices=CHOICES,
    )
    huge_min: int = option(
        32 << 20, "minimum peak size of these groups together, for huge pages, bytes", 0
    )
    reuse: str = option(
        "newest", f"reuse of freed blocks: {', '.join(_REUSE)}", choices=tuple(_REUSE)
    )
    by_size: bool = option(False, "separate pages for each block size within a group")
    phase: str = option(
        "spread",
        "starts of blocks in single-size pages: spread: over all cache sets; none: adjacent; same:"
        " in the same set, as a control",
        choices=("spread", "none", "same"),
    )
    way: int = option(
        DEFAULT_WAY, "bytes of a way of the cache to spread over", 1 << MIN_WAY, 1 << MAX_WAY
    )
    max_depth: int = option(MAX_STEPS, "maximum number of return addresses to read", 1, MAX_STEPS)
    few_sizes: int = option(
        4, "maximum number of sizes of a context aligned by size; 0: align all to 16", 0, 7
    )
    relax: bool = option(
        True, "let the runtime rewrite aligned vector moves, which allows 8-byte alignment"
    )
    trust_loaded: bool = option(
        False, "allow 8-byte alignment if the program loads libraries at run time"
    )
    trust_recorded: bool = option(
        False, "walk through functions without frame rules by recorded distances"
    )
    any_program: bool = option(False, "make the plan for all programs that load the modules")
    identification: str = option(
        "walk", "identification of groups: walk or selectors", choices=("walk", "selectors")
    )
    stack_frames: int = option(16, "number of stack frames in the JSON form", 1)


def build_plan(
    profile: Profile,
    grouping: Grouping,
    options: Mapping[str, str] = _NO_OPTIONS,
    rules: RuleSource = rule_from_file,
    obstacles: ObstacleSource = obstacle_in_file,
    prove: ProofSource = proof_of_program,
    names: NameSource = name_frames,
) -> Plan:
    """The plan that serves the contexts of `grouping` from pools.

    `options` are those of `PlanOptions`, as text. `rules` returns the walk rule of a call site,
    `obstacles` the reason why one cannot be redirected, `prove` the alignment proof, `names` the
    names of frames; plans of one profile share these, and tests replace them. The walk is a
    decision trie over return addresses (docs/plan-format.md); selectors are those of HALO, section
    4.2, figure 10. Raises `BadInput` for a bad option, and if the plan would exceed a limit of the
    format.
    """
    chosen = parse_options(PlanOptions, options, "The plan")
    refuse_unlike(profile)
    plan = _built(profile, grouping, chosen, rules, obstacles, prove, names)
    return replace(plan, modules=tuple(with_layout(profile, it) for it in plan.modules))


def _built(
    profile: Profile,
    grouping: Grouping,
    chosen: PlanOptions,
    rules: RuleSource,
    obstacles: ObstacleSource,
    prove: ProofSource,
    names: NameSource,
) -> Plan:
    aligner = Aligner(
        chosen.few_sizes,
        chosen.relax,
        chosen.any_program,
        lambda: prove(profile, chosen.trust_loaded),
    )
    if len(grouping.groups) > MAX_GROUPS:
        raise BadInput(
            f"The grouping has {len(grouping.groups)} groups, a plan holds {MAX_GROUPS}."
        )
    limit = chosen.max_object or min(
        largest_grouped(profile),
        MAX_OBJECT_LIMIT if grouping.largest is None else grouping.largest,
    )
    plan, identification = _decided(profile, grouping, chosen, limit, aligner, rules, obstacles)
    review = _review(profile, grouping, chosen, identification, aligner, names)
    return replace(plan, review=review)


def largest_grouped(profile: Profile) -> int:
    """The size in bytes of the largest object that a plan groups by default."""
    return min(profile.parameters.max_object_size or _DEFAULT_MAX_OBJECT, MAX_OBJECT_LIMIT)


def _decided(
    profile: Profile,
    grouping: Grouping,
    chosen: PlanOptions,
    limit: int,
    aligner: Aligner,
    rules: RuleSource,
    obstacles: ObstacleSource,
) -> tuple[Plan, Identification]:
    """The plan without its review, and how well it recognises the groups."""
    if grouping.at_random and grouping.groups:
        return _drawn(profile, grouping, chosen, limit, aligner)
    sites = CallSites(profile, rules, chosen.trust_recorded)
    labels = grouping.labels(len(profile.contexts), VERDICT_FORWARD)
    limits = TrieLimits(chosen.simplify, chosen.max_depth)
    large = {at for group in grouping.groups if group.spans is not None for at in group.contexts}
    members = [
        at
        for at, context in enumerate(profile.contexts)
        if context.allocations and (context.min_size <= limit or at in large)
    ]
    if chosen.identification == "selectors":
        return _selected(profile, grouping, chosen, limit, members, sites, obstacles, aligner)
    trie = TrieBuilder(profile, labels, sites, limits).build(members)
    drafts = prune(trie.states)
    modules, states = _states(profile, drafts, sites, aligner)
    modules, executable = _for_program(modules, profile, chosen)
    if len(states) > MAX_STATES or len(modules) > MAX_MODULES:
        raise BadInput("The profile needs more states or modules than a plan can hold.")
    identification = _identification(profile, members, labels, trie, drafts, sites)
    plan = Plan(
        modules=modules,
        groups=_pools(profile, grouping, chosen),
        states=states,
        max_object=limit,
        huge_pages=chosen.huge_pages != NEVER,
        executable=executable,
        checked=aligner.proof.modules,
    )
    return plan, identification


def _drawn(
    profile: Profile, grouping: Grouping, chosen: PlanOptions, limit: int, aligner: Aligner
) -> tuple[Plan, Identification]:
    """The plan of groups without contexts.

    If there are several, blocks are aligned by size if those of all recorded contexts would be.
    """
    small = [
        at
        for at, context in enumerate(profile.contexts)
        if context.allocations and context.min_size <= limit
    ]
    modules, at = _for_program((), profile, chosen)
    several = len(grouping.groups) > 1
    contexts = [profile.contexts[at] for at in small]
    alignment = aligner.of(contexts) if several else aligner.of_all(contexts)
    (huge_pages,) = huge_pages_of(profile, [small], chosen)
    plan = drawing_plan(
        [group_settings(huge_pages, chosen)] * len(grouping.groups),
        limit,
        alignment,
        None if at is None else modules[at],
        aligner.proof.modules,
    )
    return plan, Identification(states=1, deepest=0)


def _selected(
    profile: Profile,
    grouping: Grouping,
    chosen: PlanOptions,
    limit: int,
    members: list[int],
    sites: CallSites,
    obstacles: ObstacleSource,
    aligner: Aligner,
) -> tuple[Plan, Identification]:
    """The plan that identifies groups by selectors."""
    found = make_selectors(profile, grouping, members, sites, obstacles, aligner)
    modules, executable = _for_program(found.modules, profile, chosen)
    labels = grouping.labels(len(profile.contexts), VERDICT_FORWARD)
    wrong = tuple(at for at in members if found.verdicts[at] != labels[at])
    identification = Identification(
        states=1,
        deepest=max((len(each.sites) for each in found.selectors.conjunctions), default=0),
        undecidable=context_ids(wrong),
        undecidable_accesses=_share(profile, wrong, "accesses"),
        undecidable_allocations=_share(profile, wrong, "allocations"),
        selectors=found.review,
    )
    plan = Plan(
        modules=modules,
        groups=_pools(profile, grouping, chosen),
        states=(State(0, 0, 0, 0, RULE_END, VERDICT_FORWARD, 0, BY_SIZE),),
        max_object=limit,
        huge_pages=chosen.huge_pages != NEVER,
        executable=executable,
        selectors=found.selectors,
        checked=aligner.proof.modules,
    )
    return plan, identification


def _for_program(
    modules: tuple[PlanModule, ...], profile: Profile, chosen: PlanOptions
) -> tuple[tuple[PlanModule, ...], int | None]:
    return (modules, None) if chosen.any_program else _with_executable(modules, profile)


def _with_executable(
    modules: tuple[PlanModule, ...], profile: Profile
) -> tuple[tuple[PlanModule, ...], int | None]:
    """The modules, the recorded program among them, and its index; None if it is unknown."""
    program = recorded_program(profile)
    for path, build_id in profile.modules:
        if path == program and build_id:
            ids = [module.build_id for module in modules]
            if build_id not in ids:
                return (*modules, PlanModule(build_id, path)), len(modules)
            return modules, ids.index(build_id)
    return modules, None


def _pools(profile: Profile, grouping: Grouping, chosen: PlanOptions) -> tuple[PlanGroup, ...]:
    """The settings of the groups' pools."""
    groups = grouping.groups
    if any(it.spans for it in groups) and (chosen.phase != "spread" or chosen.way != DEFAULT_WAY):
        raise BadInput("A plan with spans has no phases: leave out the options phase and way.")
    huge_pages = huge_pages_of(profile, [group.contexts for group in groups], chosen)
    return tuple(
        group_settings(is_huge, chosen, group.layout)._replace(spans=group.spans)
        for group, is_huge in zip(groups, huge_pages, strict=True)
    )


def huge_pages_of(
    profile: Profile, groups: Sequence[Sequence[int]], chosen: PlanOptions
) -> list[bool]:
    """Whether each group, given by its contexts, requests huge pages by these options."""
    return requesting(profile, groups, chosen.huge_pages, chosen.huge_min)


def group_settings(
    huge_pages: bool, chosen: PlanOptions, layout: PageLayout | None = None
) -> PlanGroup:
    """The settings of a group.

    `layout`: that of the strategy, which the option `phase` replaces.
    """
    laid_out = layout is not None or chosen.phase != "spread" or chosen.way != DEFAULT_WAY
    by_size = chosen.by_size or laid_out
    if chosen.way & (chosen.way - 1):
        raise BadInput(f"The plan's option way must be a power of two, not {chosen.way}.")
    if not by_size:
        return PlanGroup(huge_pages, _REUSE[chosen.reuse])
    phases = {
        "spread": layout or PageLayout(way_bytes=chosen.way),
        "none": PageLayout(packed=True),
        "same": PageLayout(starts=1, way_bytes=layout.way_bytes if layout else chosen.way),
    }
    return PlanGroup(huge_pages, _REUSE[chosen.reuse], True, phases[chosen.phase])


def _review(
    profile: Profile,
    grouping: Grouping,
    chosen: PlanOptions,
    identification: Identification,
    aligner: Aligner,
    names: NameSource,
) -> Review:
    return Review(
        strategy=grouping.strategy,
        parameters={**grouping.parameters, "plan": asdict(chosen)},
        profile={
            "program": {"path": profile.program, "args": list(profile.args)},
            "totals": asdict(profile.totals),
            "fingerprint": profile.fingerprint(),
        },
        groups=review_groups(profile, grouping, chosen.stack_frames, names),
        identification=identification,
        alignment=aligner.reason,
    )


def _states(
    profile: Profile, drafts: list[Draft], sites: CallSites, aligner: Aligner
) -> tuple[tuple[PlanModule, ...], tuple[State, ...]]:
    """The plan's modules and states; a state with a verdict has no rule, as walks end there."""
    modules: dict[str, int] = {}
    paths: list[PlanModule] = []
    restore = rbp_to_restore(drafts)
    states = []
    for at, draft in enumerate(drafts):
        module_id = offset = step = rule = 0
        alignment = BY_SIZE
        if at:
            module, offset = sites.sites[draft.site]
            module_id = modules.setdefault(module.build_id, len(paths))
            if module_id == len(paths):
                paths.append(PlanModule(module.build_id, module.path))
            if draft.verdict == VERDICT_UNDECIDED:
                step, rule = draft.rule.step, draft.rule.kind.value
        if draft.verdict < VERDICT_FORWARD:
            alignment = aligner.of(profile.contexts[m] for m in draft.members)
        states.append(
            State(
                draft.parent, module_id, offset, step, rule, draft.verdict, restore[at], alignment
            )
        )
    return tuple(paths), tuple(states)


def _identification(
    profile: Profile,
    members: list[int],
    labels: list[int],
    trie: Trie,
    drafts: list[Draft],
    sites: CallSites,
) -> Identification:
    wrong = [at for at in members if trie.verdicts[at] != labels[at]]
    undecidable = tuple(at for at in wrong if at not in trie.simplified)
    simplified = tuple(at for at in wrong if at in trie.simplified)
    allocations = sum(profile.contexts[at].allocations for at in members)
    steps = sum(trie.depths[at] * profile.contexts[at].allocations for at in members)
    return Identification(
        states=len(drafts),
        deepest=max(draft.depth for draft in drafts),
        mean_steps=steps / allocations if allocations else 0.0,
        undecidable=context_ids(undecidable),
        undecidable_accesses=_share(profile, undecidable, "accesses"),
        undecidable_allocations=_share(profile, undecidable, "allocations"),
        simplified=context_ids(simplified),
        simplified_accesses=_share(profile, simplified, "accesses"),
        simplified_allocations=_share(profile, simplified, "allocations"),
        ends=dict(sorted(sites.ends.items())),
    )


def _share(profile: Profile, contexts: tuple[int, ...], count: str) -> float:
    whole = sum(getattr(context, count) for context in profile.contexts)
    part = sum(getattr(profile.contexts[at], count) for at in contexts)
    return part / whole if whole else 0.0
