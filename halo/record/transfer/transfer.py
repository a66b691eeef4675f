"""Transfers a profile and a grouping to another build of the recorded program."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from halo.base.errors import BadInput, MissingPart
from halo.binary.elf import build_id_of
from halo.binary.elf.positions import symbolizer
from halo.record.profile import DIGESTS, LOADED, is_unlike, recorded_program
from halo.record.profile.model import Context, Module, Profile
from halo.record.profile.sections.registry import sections_without_stacks
from halo.record.transfer.stacks import Address, StackCarrier, stack_of
from halo.record.transfer.steps import Build, read_build, recorded_build
from halo.record.transfer.unification import StackNumbers, unify


@dataclass(frozen=True)
class Carried:
    """A profile in the addresses of another build, and the profile to group.

    `unified` is the old profile, in which contexts that the new build does not distinguish are
    merged, such as copies of a call by the old compiler. `profile` has the new build's stacks and
    no affinity graph. `became` maps each context id of `unified` to disjoint ids of `profile`, and
    `numbers` each one of the old profile to that of `unified`.
    """

    unified: Profile
    profile: Profile
    became: tuple[tuple[int, ...], ...]
    numbers: tuple[int, ...]

    @property
    def lost(self) -> tuple[int, ...]:
        """The contexts of `unified` that the new build does not have."""
        return tuple(at for at, new in enumerate(self.became) if not new)


def carry_over(profile: Profile, program: Path) -> Carried:
    """The profile in the addresses of `program`, which is built from the same source.

    Raises `BadInput` if neither the recorded build nor its calls in the profile are there, if one
    of the two has no debug information, or if they have no call in common; `MissingPart` if
    llvm-symbolizer is not installed.
    """
    old, new = recorded_module(profile), _other(program)
    old_build = _old_build(profile, old)
    same = old.build_id == new.build_id and not is_unlike(profile, old, new.path)
    new_build = old_build if same else _build(new)
    carrier = StackCarrier(old, old_build, new, new_build)
    stacks = [carrier.carry(stack_of(profile, at)) for at in range(len(profile.contexts))]
    if not any(stacks):
        raise BadInput(
            f"{new.path} has none of the calls that were recorded in {old.path}; give a build"
            " of the same source."
        )
    return _assembled(profile, old, new, stacks)


def recorded_module(profile: Profile) -> Module:
    """The recorded program; `BadInput` if the profile does not name it."""
    path = recorded_program(profile)
    for module in profile.modules:
        if module.path == path and module.build_id:
            return module
    raise BadInput("The profile does not name the recorded program; record it again.")


def _old_build(profile: Profile, old: Module) -> Build:
    """From the file if it is still the recorded one, else as far as the profile has it."""
    if build_id_of(old.path) == old.build_id and not is_unlike(profile, old):
        return _build(old)
    found = recorded_build(profile)
    if found is None:
        raise BadInput(
            f"{old.path} is missing or has changed since it was recorded, and it had no debug"
            " information to find its calls in another build; record that build."
        )
    return found


def _other(program: Path) -> Module:
    path = os.path.realpath(program)
    build_id = build_id_of(path)
    if not build_id:
        raise BadInput(
            f"{program} has no build-id, so no plan can name it; link it with -Wl,--build-id."
        )
    return Module(path, build_id)


def _build(module: Module) -> Build:
    if symbolizer() is None:
        raise MissingPart(
            "llvm-symbolizer, which finds the source lines of calls, is not installed; install"
            " Debian's with: apt-get install llvm-19"
        )
    build = read_build(module.path)
    if not build.sites:
        raise BadInput(
            f"{module.path} has no debug information, so its calls are unknown; build it with -g."
        )
    return build


def _assembled(
    profile: Profile, old_program: Module, new: Module, stacks: list[list[tuple[Address, ...]]]
) -> Carried:
    unified, stacks_of, numbers = unify(profile, stacks)
    nodes = StackNumbers()
    contexts: list[Context] = []
    became: list[tuple[int, ...]] = []
    for old, found in zip(unified.contexts, stacks_of, strict=True):
        became.append(tuple(range(len(contexts), len(contexts) + len(found))))
        contexts.extend(
            replace(_share(old, at, len(found)), node=nodes.node_of(stack))
            for at, stack in enumerate(found)
        )
    loaded = tuple(new if it == old_program else it for it in LOADED.of(profile) or ())
    moved = replace(
        profile,
        modules=tuple(nodes.modules),
        frames=tuple(nodes.frames),
        nodes=tuple(nodes.nodes),
        contexts=tuple(contexts),
        edges=(),
        program=new.path,
        sections=sections_without_stacks(profile) | ({LOADED.key: loaded} if loaded else {}),
    )
    digests = {it: found for it, found in (DIGESTS.of(profile) or {}).items() if it != new}
    moved = replace(moved, sections={**moved.sections, DIGESTS.key: digests})
    return Carried(unified, moved, tuple(became), tuple(numbers))


def _share(context: Context, at: int, copies: int) -> Context:
    """The counts of one of several copies; together they have those of the context."""

    def share(count: int) -> int:
        return count // copies + (at < count % copies)

    return replace(
        context,
        allocations=max(share(context.allocations), min(context.allocations, 1)),
        frees=share(context.frees),
        bytes=share(context.bytes),
        peak_live_bytes=share(context.peak_live_bytes),
        accesses=share(context.accesses),
    )
