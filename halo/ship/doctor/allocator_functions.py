"""Finds uses of the functions that allocators have beside malloc's family.

Under a plan, the runtime takes the place of those that take a block. Its file has their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from halo.ship.doctor.finding import Finding, fine, listed, note
from halo.ship.doctor.module import LinkedModule

WHAT = "allocator functions"
TAKES_A_BLOCK = re.compile(
    r"[sdx]*allocx|rallocx"
    r"|(?!_Z)\w+_\w*(free|realloc|re[cz]alloc)\w*"
    r"|(je|mi|tc|sn|rpmalloc|scalable|hoard|mesh|umem)_\w*"
    r"(expand|delete|size|owned|contains|region)\w*"
    r"|MallocExtension_(GetAlloc|GetOwn|Verify)\w+|malloc_size|reallocarr|reallocf|vfree"
    r"|(rp|sn_|xx)(free|realloc)"
)
"""Names that an allocator's library may give to functions that take a block.

A library that has a malloc may have functions of any other purpose, too. So sizes and regions are
those of blocks only behind the prefix of a known allocator.
"""

WITHOUT_A_BLOCK = frozenset(
    {
        *("mallocx", "nallocx", "tc_nallocx", "mi_good_size", "mi_malloc_good_size"),
        *("mi_register_deferred_free", "mi_option_get_size", "mi_subproc_delete"),
        *("mi_arena_contains", "mi_heap_guarded_set_size_bound", "mi_heap_delete"),
        "MallocExtension_VerifyAllMemory",
        *("__libc_free", "__libc_realloc", "_aligned_malloc"),
    }
)
"""Those among them that take none, or that are part of malloc's family."""

_SERVED = re.compile(
    rb"(?<=\0)(?:(?:mi|tc)_\w+|[a-z]*allocx|malloc_size|MallocExtension_\w+)(?=\0)"
)
_BLIND = (
    *("mi_heap_visit_blocks", "mi_abandoned_visit_blocks", "mi_heap_destroy"),
    *("MallocHook_AddNewHook", "MallocHook_AddDeleteHook"),
    *("MallocHook_SetNewHook", "MallocHook_SetDeleteHook"),
)
"""Functions that deal with all blocks of a heap, or of each call."""

_RESET = re.compile(rb"\0(arena\.[%\w]+\.(?:reset|destroy))\0")


def examine_functions(
    modules: Sequence[LinkedModule], runtime: LinkedModule | None
) -> Iterator[Finding]:
    """Findings on the functions of allocators that the modules use, among the modules or not."""
    if runtime is None:
        return
    served = _served(runtime)
    allocators = [module for module in modules if module.exported.defined(("malloc",))]
    for module in modules:
        if module in allocators:
            continue
        called = module.exported.referred(sorted(served & _candidates(module)))
        if called:
            yield fine(WHAT, f"halo serves {listed([*called])}, which {module.name} calls")
        for library in allocators:
            yield from _unserved(module, library, served)
        yield from _resets(module)


def _served(runtime: LinkedModule) -> frozenset[str]:
    return frozenset(name.decode() for name in _SERVED.findall(runtime.image.data))


def _candidates(module: LinkedModule) -> frozenset[str]:
    return frozenset(name.decode() for name in _SERVED.findall(b"\0" + module.exported.strings))


def _unserved(
    module: LinkedModule, library: LinkedModule, served: Iterable[str]
) -> Iterator[Finding]:
    known = {*served, *WITHOUT_A_BLOCK}
    blocks = [
        name
        for name in library.exported.defined_names()
        if TAKES_A_BLOCK.fullmatch(name) and name not in known
    ]
    if used := _used(module, blocks):
        yield note(
            WHAT,
            f"{module.name} uses {listed(used)} of {library.name}, which halo does not serve: they"
            " must not get a block of malloc, which halo may have placed",
            "build it to call free and realloc, or run it without halo",
        )
    if used := _used(module, library.exported.defined(_BLIND)):
        yield note(
            WHAT,
            f"{module.name} uses {listed(used)} of {library.name}: what halo has placed takes no"
            " part in that",
            "nothing, if the program needs it for blocks of its own heaps only",
        )


def _used(module: LinkedModule, names: Iterable[str]) -> list[str]:
    """Those that the module imports, or has as a text, which it may look up."""
    data = module.image.data
    found = set(module.exported.referred(names := list(names)))
    defined = {*module.exported.defined(names), *module.private.defined(names)}
    texts = {name for name in names if data.find(b"\0" + name.encode() + b"\0") >= 0}
    return sorted((found | texts) - defined)


def _resets(module: LinkedModule) -> Iterator[Finding]:
    found = {match.decode() for match in _RESET.findall(module.image.data)}
    if found and module.exported.referred(("mallctl",)):
        yield note(
            WHAT,
            f"{module.name} may call mallctl with {listed(sorted(found))}: what halo has placed"
            " stays allocated then",
            "nothing, if the program resets arenas that malloc does not use",
        )
