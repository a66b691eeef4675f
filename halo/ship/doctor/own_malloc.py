"""Finds allocators in a program, in its libraries and in LD_PRELOAD."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from halo.binary.process.target import SANITIZERS
from halo.ship.doctor.finding import Finding, fine, listed, note, refusal
from halo.ship.doctor.module import LinkedModule

FAMILY = ("malloc", "calloc", "realloc", "free", "memalign", "aligned_alloc", "posix_memalign")
OPERATORS = ("_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm")
_ALLOCATES = ("malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "_Znwm", "_Znam")
# Exported names of well-known allocators that are built without replacing malloc.
_PRIVATE = {
    "_rjem_malloc": "jemalloc",
    "je_malloc": "jemalloc",
    "mi_malloc": "mimalloc",
    "tc_malloc": "tcmalloc",
    "rpmalloc": "rpmalloc",
}
# Strings that identify their code in files without symbols.
_MARKS = {b"<jemalloc>": "jemalloc", b"mimalloc: ": "mimalloc", b"TCMALLOC_": "tcmalloc"}
_BEHIND_MALLOC = ("__libc_malloc", "__libc_calloc", "__libc_realloc", "__libc_free")
_CXX_LIBRARIES = ("libstdc++.so", "libc++.so", "libc++abi.so")


@dataclass(frozen=True)
class Company:
    """The program and all modules loaded with it except the C library.

    `preloaded` are the words of LD_PRELOAD; `runtime` is None if it is not built.
    """

    program: LinkedModule
    libraries: Sequence[LinkedModule]
    preloaded: Sequence[str]
    runtime: LinkedModule | None

    @property
    def modules(self) -> tuple[LinkedModule, ...]:
        return (self.program, *self.libraries)


def allocating(modules: Iterable[LinkedModule]) -> bool:
    """Whether any of the modules calls malloc or operator new."""
    return any(module.exported.referred(_ALLOCATES) for module in modules)


def examine_allocators(company: Company, environment: Mapping[str, str]) -> Iterator[Finding]:
    """A finding for each other allocator, on how halo interacts with it."""
    yield from _of_the_program(company.program)
    for library in company.libraries:
        if library.name.startswith(SANITIZERS):
            yield _sanitizer(library)
        else:
            yield from _of_a_library(company, library)
    for module in company.modules:
        if not module.exported.defined(("malloc",)):
            yield from _private(module)
            yield from _behind_malloc(module, company.runtime)
    yield from _python(company.modules, environment)


def _of_the_program(program: LinkedModule) -> Iterator[Finding]:
    defined = program.exported.defined(FAMILY)
    if defined:
        what = "a malloc" if "malloc" in defined else listed([*defined])
        yield refusal(
            "own malloc",
            f"{program.name} exports {what} of its own, which is bound before any preloaded one",
            "build it with the system's allocator",
        )
    else:
        yield fine("own malloc", "no")
    if program.exported.defined(OPERATORS):
        yield note(
            "own operator new",
            f"{program.name} replaces operator new or delete: halo serves only their calls of"
            " malloc",
            "build it without them if they do more than call malloc and free",
        )


def _sanitizer(library: LinkedModule) -> Finding:
    return refusal(
        "sanitizer",
        f"{library.name} replaces malloc to find errors, and ends a program in which another"
        " library comes first",
        "build the program without -fsanitize",
    )


def _of_a_library(company: Company, library: LinkedModule) -> Iterator[Finding]:
    if library.exported.defined(("malloc",)):
        yield note(
            "next allocator",
            f"{library.name}, {_origin(company, library)}, has a malloc of its own: halo comes"
            f" first and forwards to it, and halo's tables have {library.name} in place of glibc",
            "remove it to compare with glibc",
        )
        if "DF_SYMBOLIC" in library.flags:
            yield note(
                "bound to itself",
                f"{library.name} is linked with -Bsymbolic, so its own calls of malloc and free"
                " pass halo by: it must not free what others have allocated",
                "link it without -Bsymbolic",
            )
    elif not library.name.startswith(_CXX_LIBRARIES) and library.exported.defined(OPERATORS):
        yield note(
            "own operator new",
            f"{library.name} has operators new and delete of its own, which halo's replace",
            "run the program without halo if they do more than call malloc and free",
        )


def _origin(company: Company, library: LinkedModule) -> str:
    names = {library.soname, library.path.name}
    if any(Path(word).name in names for word in company.preloaded):
        return "which LD_PRELOAD names"
    for user in company.modules:
        if names & set(user.needed):
            return f"which {user.name} needs"
    return "which /etc/ld.so.preload names"


def _private(module: LinkedModule) -> Iterator[Finding]:
    for name, evidence in _private_allocators(module).items():
        yield note(
            "private allocator",
            f"{module.name} uses {name} under names of its own ({evidence}): halo does not see"
            " these allocations",
            "build it to use malloc, or expect little",
        )


def _private_allocators(module: LinkedModule) -> dict[str, str]:
    """Names of the allocators that a module contains or calls, each with the evidence."""
    found: dict[str, str] = {}
    for mark, name in _MARKS.items():
        if module.image.data.find(mark) >= 0:
            found[name] = f"the text {mark.decode().strip()}"
    for symbol, name in _PRIVATE.items():
        tables = (module.exported, module.private)
        if any(t.defined((symbol,)) or t.referred((symbol,)) for t in tables):
            found[name] = symbol
    return found


def _behind_malloc(module: LinkedModule, runtime: LinkedModule | None) -> Iterator[Finding]:
    covered = set(runtime.exported.defined(_BEHIND_MALLOC)) if runtime is not None else set()
    called = [name for name in module.exported.referred(_BEHIND_MALLOC) if name not in covered]
    if called:
        yield note(
            "behind malloc",
            f"{module.name} calls {listed(called)} of the C library, past every preloaded"
            " allocator: what halo has placed must not be freed there",
            "try it with --run, and build it to call malloc and free",
        )


def _python(modules: Iterable[LinkedModule], environment: Mapping[str, str]) -> Iterator[Finding]:
    if environment.get("PYTHONMALLOC", "").startswith("malloc"):
        return
    for module in modules:
        if module.exported.defined(("PyObject_Malloc",)):
            yield note(
                "python objects",
                f"{module.name} keeps small objects in arenas of its own, which halo sees only as"
                " a whole",
                "set PYTHONMALLOC=malloc",
            )
