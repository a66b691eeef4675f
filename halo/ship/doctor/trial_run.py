"""Findings from a run under the runtime: which modules were bound to it, and which were not."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

from halo.base.errors import Unsuitable
from halo.base.settings import Settings
from halo.binary.process.target import Target
from halo.measure.runs.process_watch import refuse_wrapper
from halo.ship.doctor.finding import Finding, fine, listed, note, refusal, refusal_of
from halo.ship.doctor.loader import same_file
from halo.ship.doctor.observation import Binding, Observation, observe


def examine_run(
    settings: Settings, target: Target, arguments: Sequence[str], plan: Path | None
) -> Iterator[Finding]:
    """Runs the program once and reports; the C library's own allocations do not count."""
    seen = observe(settings, target, arguments, plan)
    yield _ending(target, seen)
    try:
        refuse_wrapper(target.name, seen.work)
    except Unsuitable as error:
        yield refusal_of("run: launcher", error)
        return
    reached = [b for b in seen.bindings if same_file(b.library, seen.runtime)]
    if not reached:
        yield refusal(
            "run: reached",
            f"LD_PRELOAD did not reach {target.name}: something between halo and the program"
            " (a security module, a wrapper) drops it",
            "start the program itself, and check its AppArmor or SELinux profile",
        )
        return
    users = {b.module.name for b in reached}
    yield fine("run: reached", f"{len(users)} modules allocate through halo")
    yield from _past(target, seen)
    if plan is not None:
        yield _placed(target, plan, seen)


def _ending(target: Target, seen: Observation) -> Finding:
    if seen.status >= 0:
        return fine("run: end", f"exit status {seen.status}")
    try:
        name = signal.Signals(-seen.status).name
    except ValueError:  # a real-time signal
        name = f"signal {-seen.status}"
    words = f" ({seen.last_words})" if seen.last_words else ""
    return refusal(
        "run: end",
        f"{target.name} was killed by {name} under the runtime{words}",
        "run it without halo: if it then ends well, do not use halo for it",
    )


def _past(target: Target, seen: Observation) -> Iterator[Finding]:
    """Findings on modules bound to another malloc or free; the runtime's own do not count.

    Bindings to the program do not count either. Either it replaces operators, which a check of its
    file reports, or it is linked at a fixed address, and its PLT entry jumps to halo's function.
    """
    past = [
        b
        for b in seen.bindings
        if not same_file(b.module, seen.runtime)
        and not any(same_file(b.library, path) for path in (seen.runtime, target.path))
        and str(b.library) != target.name
    ]
    inside = sorted({b.module.name for b in past if b.namespace != 0})
    if inside:
        yield note(
            "run: namespaces",
            f"{listed(inside)} live{'s' if len(inside) == 1 else ''} in a namespace of dlmopen or"
            " LD_AUDIT with a C library of its own, where halo is not",
            "make sure that nothing is freed on the other side",
        )
    outside = [b for b in past if b.namespace == 0]
    if outside:
        yield refusal(
            "run: bindings",
            f"{_describe(outside)} past halo (RTLD_DEEPBIND, -Bsymbolic, or a program that was"
            " started in its place): objects that halo has placed must not be freed there",
            "open it without RTLD_DEEPBIND, or link it without -Bsymbolic",
        )
    elif not inside:
        yield fine("run: bindings", "all modules use halo's malloc and free")


def _describe(bindings: list[Binding]) -> str:
    """`plugin.so uses malloc and free of libc.so.6`."""
    module = min(b.module for b in bindings)
    its = [b for b in bindings if b.module == module]
    others = len({b.module for b in bindings}) - 1
    more = f" and {others} more" if others else ""
    library = min(b.library.name for b in its)
    symbols = listed(sorted({b.symbol for b in its}))
    return f"{module.name}{more} use{'' if others else 's'} {symbols} of {library}"


def _placed(target: Target, plan: Path, seen: Observation) -> Finding:
    if not seen.stats:
        return note(
            "run: placed",
            f"{target.name} ended without running its exit handlers, so the runtime could not"
            " report",
            "let it end by exit or by returning from main to see what the plan does",
        )
    groups = [int(group["allocations"]) for group in seen.stats.get("groups", ())]
    taker = Path(seen.stats.get("calls_taken_by") or "").name
    if taker:
        return note(
            "run: placed",
            f"calls of malloc lead to {taker}, which is the only caller that halo sees then:"
            f" {sum(groups)} allocations in {sum(map(bool, groups))} of {len(groups)} groups",
            f"run the program without {taker}, or record it with {taker} too",
        )
    if sum(groups):
        return fine(
            "run: placed",
            f"{sum(groups)} allocations in {sum(map(bool, groups))} of {len(groups)} groups",
        )
    reason = seen.stats.get("reason") or "no allocation came from a context of the plan"
    return note(
        "run: placed",
        f"nothing was placed by {plan}: {reason}",
        "record the program with these arguments and plan again",
    )
