"""The affinity graph with names and groups (HALO, figure 9), from a profile and its plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from halo.base.errors import BadInput, BadPlan
from halo.measure.candidates import NONE
from halo.plan import GroupReview, Plan, read_plan
from halo.record.profile import Profile, name_frames, read_profile
from halo.record.profile.site_labels import distinct_labels
from halo.report.results.model import Measurement

PROFILE = "train.profile"
FALLBACK = "halo"
"""The plan that colours the graph where no plan was kept."""
SHOWN_FRAMES = 16


@dataclass(frozen=True)
class Node:
    """A context; `loop` is its affinity to itself, `group` None where it is in no group."""

    context: int
    label: str
    stack: tuple[str, ...]
    accesses: int
    share: float
    loop: int
    group: int | None


@dataclass(frozen=True)
class Graph:
    """The contexts of the shown edges; `edges` are (context, context, weight), heaviest first.

    `note` says which plan the groups are of and how much of the graph is shown.
    """

    program: str
    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int, int], ...]
    note: str


@dataclass(frozen=True)
class GraphSource:
    """What a graph is made of; `plan_note` says which plan it is."""

    path: Path
    profile: Profile
    plan: Plan | None
    plan_note: str


def source_of_folder(measurement: Measurement) -> GraphSource:
    """The recording and the kept plan beside a results file; where none was kept, plan `halo`."""
    path = measurement.folder / PROFILE
    if not path.is_file():
        raise BadInput(
            f"{measurement.folder} holds no {PROFILE}, so there is no affinity graph; give a"
            " results folder of halo run, or a profile and a plan."
        )
    kept = measurement.configurations.get("halo", measurement.kept)
    if kept is None or kept.strategy == NONE:
        plan = measurement.folder / f"{FALLBACK}.plan"
        if not plan.is_file():
            return GraphSource(path, read_profile(path), None, "no plan was made")
        return source_of_files(path, plan, f"no plan was kept; groups of the plan '{FALLBACK}'")
    name = kept.plan or f"{kept.candidate}.plan"
    plan = measurement.folder / Path(name).name
    if not plan.is_file():
        raise BadInput(
            f"{measurement.folder} holds no {plan.name}, the plan that was kept; give the whole"
            " results folder."
        )
    return source_of_files(path, plan, f"groups of the kept plan '{kept.candidate}'")


def source_of_files(profile: Path, plan: Path | None, note: str = "") -> GraphSource:
    """A profile and, where given, a plan made of it, with the reviewable form beside it."""
    recorded = read_profile(profile)
    if plan is None:
        return GraphSource(profile, recorded, None, "no plan was given")
    found = read_plan(plan)
    if found.review is None:
        raise BadPlan(
            f"{plan} has no matching {plan.name}.json beside it, so its groups are unknown; make"
            " both again with: halo plan"
        )
    if found.review.profile.get("fingerprint") != recorded.fingerprint():
        raise BadInput(
            f"{plan} was not made of {profile}; give the plan and the profile that belong together."
        )
    return GraphSource(profile, recorded, found, note or f"groups of {plan.name}")


def build_graph(source: GraphSource, min_weight: int = 1, top: int | None = None) -> Graph:
    """The edges of at least that weight, only the `top` heaviest where given, and their contexts.

    A context's edge to itself counts as one. Raises `BadInput` where nothing is left.
    """
    edges = sorted(source.profile.edges, key=lambda edge: (-edge[2], edge))
    kept = [edge for edge in edges if edge[2] >= min_weight][:top]
    if not kept:
        raise BadInput(_nothing(source, edges, min_weight))
    contexts = sorted({end for edge in kept for end in edge[:2]})
    loops = {a: weight for a, b, weight in kept if a == b}
    nodes = _nodes(source, contexts, loops)
    shown = "all" if len(kept) == len(edges) else f"the heaviest {len(kept)} of"
    return Graph(
        program=Path(source.profile.program).name or source.path.name,
        nodes=nodes,
        edges=tuple(edge for edge in kept if edge[0] != edge[1]),
        note=f"{source.plan_note}; {shown} {len(edges)} edges",
    )


def _nothing(source: GraphSource, edges: Sequence[tuple[int, int, int]], minimum: int) -> str:
    if not edges:
        return (
            f"{source.path} has an empty affinity graph: no two objects were used closely after"
            " each other; record an input that uses its heap more, or with a larger --distance."
        )
    return (
        f"No edge of {source.path} has a weight of {minimum} or more; the heaviest has"
        f" {edges[0][2]}: give a smaller --min-weight."
    )


def _groups(plan: Plan | None) -> tuple[GroupReview, ...]:
    return plan.review.groups if plan is not None and plan.review is not None else ()


def _nodes(source: GraphSource, contexts: Sequence[int], loops: dict[int, int]) -> tuple[Node, ...]:
    profile = source.profile
    groups: dict[int, int] = {}
    stacks: dict[int, tuple[str, ...]] = {}
    for number, group in enumerate(_groups(source.plan)):
        groups.update((at, number) for at in group.members())
        stacks.update((member.context, member.stack) for member in group.contexts)
    unnamed = {at: list(profile.stack(at))[:SHOWN_FRAMES] for at in contexts if at not in stacks}
    names = name_frames(profile, {frame for chain in unnamed.values() for frame in chain})
    stacks.update({at: tuple(names[f] for f in chain) for at, chain in unnamed.items()})
    labels = distinct_labels({at: stacks[at] for at in contexts})
    total = profile.accesses or 1
    return tuple(
        Node(
            context=at,
            label=labels[at],
            stack=stacks[at],
            accesses=profile.contexts[at].accesses,
            share=profile.contexts[at].accesses / total,
            loop=loops.get(at, 0),
            group=groups.get(at),
        )
        for at in contexts
    )
