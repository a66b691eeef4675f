"""Allocators that `halo doctor -- PROG` finds: in a program, in its libraries, and preloaded."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from halo.binary.process.allocators import find_allocator
from halo.ship.doctor import Weight
from support.command import BUILD, compile_c
from support.doctor import (
    ALLOCATES,
    JEMALLOC,
    LIBRARIES,
    examine,
    library,
    linked,
    needing,
    the,
    unusual,
)

OWN = "#include <stdlib.h>\nint kept; {} int main(void) {{ free(calloc(1, 9)); return kept; }}"


@pytest.mark.parametrize(
    ("definition", "words"),
    [
        ("void *malloc(size_t n) { return 0; }", "exports a malloc of its own"),
        ("void free(void *p) { ++kept; }", "exports free of its own"),
        ("void *memalign(size_t a, size_t n) { return 0; }", "exports memalign of its own"),
    ],
)
def test_a_program_with_an_allocator_of_its_own(
    tmp_path: Path, definition: str, words: str
) -> None:
    source = OWN.format(definition)
    program = compile_c(source, tmp_path / "prog", "-rdynamic", "-fno-builtin")
    found = the(examine(program), "own malloc")
    assert found.weight is Weight.REFUSAL
    assert words in found.sentence and "before any preloaded one" in found.sentence


def test_a_file_without_section_headers_is_read_all_the_same(tmp_path: Path) -> None:
    source = OWN.format("void *malloc(size_t n) { return 0; }")
    program = compile_c(source, tmp_path / "prog", "-rdynamic", "-fno-builtin")
    content = bytearray(program.read_bytes())
    content[40:48] = bytes(8)  # e_shoff
    content[58:64] = bytes(6)  # e_shentsize, e_shnum, e_shstrndx
    program.write_bytes(content)
    assert the(examine(program), "own malloc").weight is Weight.REFUSAL


NEW = (
    "#include <new>\n#include <cstdlib>\nvoid *operator new(std::size_t n) { return malloc(n); }\n"
)


def test_a_program_with_an_operator_new_of_its_own(tmp_path: Path) -> None:
    source = NEW + "int main() { delete new long; }"
    command = ["g++", "-x", "c++", "-", "-o", str(tmp_path / "prog")]
    subprocess.run(command, input=source, text=True, check=True)
    found = the(examine(tmp_path / "prog"), "own operator new")
    assert found.weight is Weight.NOTE
    assert "prog replaces operator new" in found.sentence


def test_a_library_with_an_operator_new_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "libops.so"
    command = ["g++", "-x", "c++", "-", "-shared", "-fPIC", "-o", str(path)]
    subprocess.run(command, input=NEW, text=True, check=True)
    program = linked(tmp_path, "prog", ALLOCATES, path)
    found = the(examine(program), "own operator new")
    assert "libops.so has operators new and delete of its own, which halo's replace" in (
        found.sentence
    )


def test_an_allocator_that_the_program_is_linked_with(tmp_path: Path) -> None:
    program = linked(tmp_path, "prog", ALLOCATES, JEMALLOC)
    found = the(examine(program), "next allocator")
    assert found.weight is Weight.NOTE
    assert "libjemalloc.so.2, which prog needs, has a malloc of its own" in found.sentence
    assert "tables have libjemalloc.so.2 in place of glibc" in found.sentence


def test_an_allocator_that_a_library_is_linked_with(tmp_path: Path) -> None:
    middle = library(tmp_path, "middle", "int m(void) { return 1; }", needing(JEMALLOC))
    program = linked(tmp_path, "prog", ALLOCATES, middle)
    assert "which libmiddle.so needs" in the(examine(program), "next allocator").sentence


def test_an_allocator_that_the_user_preloads(plain: Path) -> None:
    findings = examine(plain, {"LD_PRELOAD": str(JEMALLOC)})
    assert unusual(findings) == [("next allocator", "note")]
    assert "which LD_PRELOAD names" in the(findings, "next allocator").sentence


def test_a_preload_that_is_not_there(plain: Path) -> None:
    findings = examine(plain, {"LD_PRELOAD": "libnowhere.so"})
    assert unusual(findings) == [("LD_PRELOAD", "note")]
    assert "cannot load libnowhere.so" in the(findings, "LD_PRELOAD").sentence


def test_a_preload_of_the_runtime_itself(plain: Path) -> None:
    findings = examine(plain, {"LD_PRELOAD": str(BUILD / "lib" / "libhalo.so")})
    assert unusual(findings) == [("LD_PRELOAD", "note")]
    assert "names libhalo.so already" in the(findings, "LD_PRELOAD").sentence


PRIVATE = """
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) void *{name}(size_t n) {{ return malloc(n); }}
int main(void) {{ puts("{text}"); char *volatile p = {name}(40); free(p); return 0; }}
"""


@pytest.mark.parametrize(
    ("name", "allocator"),
    [
        ("_rjem_malloc", "jemalloc"),
        ("je_malloc", "jemalloc"),
        ("mi_malloc", "mimalloc"),
        ("tc_malloc", "tcmalloc"),
    ],
)
def test_an_allocator_under_names_of_its_own(tmp_path: Path, name: str, allocator: str) -> None:
    program = compile_c(PRIVATE.format(name=name, text=""), tmp_path / "prog")
    findings = examine(program)
    assert unusual(findings) == [("private allocator", "note")]
    words = f"prog uses {allocator} under names of its own ({name})"
    assert words in the(findings, "private allocator").sentence


def test_an_allocator_in_a_stripped_program(tmp_path: Path) -> None:
    source = PRIVATE.format(name="inside", text="<jemalloc>: Error")
    program = compile_c(source, tmp_path / "prog", "-s")
    assert "uses jemalloc" in the(examine(program), "private allocator").sentence


def test_an_allocator_that_is_called_by_its_own_names(tmp_path: Path) -> None:
    source = "void *mi_malloc(unsigned long); int main(void) { return mi_malloc(9) == 0; }"
    mimalloc = find_allocator("mimalloc").library
    assert mimalloc is not None
    mimalloc = LIBRARIES / mimalloc.name.removesuffix(".0")
    program = linked(tmp_path, "prog", source, mimalloc)
    findings = examine(program)
    assert "(mi_malloc)" in the(findings, "private allocator").sentence
    assert mimalloc.name in the(findings, "next allocator").sentence


def test_a_library_that_is_bound_to_its_own_malloc(tmp_path: Path) -> None:
    source = "#include <stdlib.h>\nvoid *malloc(size_t n) { return 0; }"
    own = library(tmp_path, "own", source, "-Wl,-Bsymbolic", "-fno-builtin")
    program = linked(tmp_path, "prog", ALLOCATES, own)
    found = the(examine(program), "bound to itself")
    assert found.weight is Weight.NOTE
    assert "libown.so is linked with -Bsymbolic" in found.sentence


BEHIND = """
#include <stdlib.h>
void __libc_free(void *);
int main(void) { char *volatile p = malloc(40); __libc_free(p); return 0; }
"""


def test_calls_that_pass_every_preloaded_allocator(tmp_path: Path) -> None:
    """A note, unless the runtime exports these names itself."""
    program = compile_c(BEHIND, tmp_path / "prog")
    without = the(examine(program, build=tmp_path), "behind malloc")
    assert without.weight is Weight.NOTE
    assert "prog calls __libc_free of the C library" in without.sentence
    exports = subprocess.run(
        ["nm", "-D", "--defined-only", BUILD / "lib" / "libhalo.so"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    covered = "__libc_free" in exports.split()
    assert (("behind malloc", "note") in unusual(examine(program))) is not covered


def test_a_sanitizer(tmp_path: Path) -> None:
    program = compile_c(ALLOCATES, tmp_path / "prog", "-fsanitize=address")
    found = the(examine(program), "sanitizer")
    assert found.weight is Weight.REFUSAL
    assert "libasan.so" in found.sentence and "-fsanitize" in found.way_out


def test_python_and_its_own_arenas() -> None:
    found = the(examine("/usr/bin/python3"), "python objects")
    assert (found.weight, found.way_out) == (Weight.NOTE, "set PYTHONMALLOC=malloc")
    settled = examine("/usr/bin/python3", {"PYTHONMALLOC": "malloc"})
    assert ("python objects", "note") not in unusual(settled)


def test_a_program_that_never_allocates(tmp_path: Path) -> None:
    findings = examine(compile_c("int main(void) { return 0; }", tmp_path / "prog"))
    assert unusual(findings) == [("allocations", "note")]
    assert "neither prog nor its libraries call malloc" in the(findings, "allocations").sentence


# Calls whatever functions the definition of USE names.
USES = """
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
void sdallocx(void *, size_t, int);
void mi_free(void *);
int mi_heap_visit_blocks(void *, int, void *, void *);
void own_free(void *);
int mallctl(const char *, void *, size_t *, void *, size_t);
int main(void) { char *p = malloc(40); USE; return 0; }
"""


def uses(folder: Path, use: str, *libraries: Path) -> Path:
    source = USES.replace("USE", use)
    return linked(folder, "prog", source, *libraries)


def test_functions_of_an_allocator_that_halo_serves(tmp_path: Path) -> None:
    findings = examine(uses(tmp_path, "sdallocx(p, 40, 0)", JEMALLOC))
    found = the(findings, "allocator functions")
    assert found.weight is Weight.FINE
    assert found.sentence == "halo serves sdallocx, which prog calls"


@pytest.mark.parametrize(
    "use",
    ["own_free(p)", '((void (*)(void *))dlsym(RTLD_DEFAULT, "own_free"))(p)'],
    ids=["call", "look-up"],
)
def test_functions_of_an_allocator_that_halo_does_not_serve(tmp_path: Path, use: str) -> None:
    source = (
        "#include <stddef.h>\nvoid *malloc(size_t n) { return 0; }\nvoid own_free(void *p) {}\n"
    )
    own = library(tmp_path, "own", source, "-fno-builtin")
    found = the(examine(uses(tmp_path, use, own)), "allocator functions")
    assert found.weight is Weight.NOTE
    assert found.sentence.startswith("prog uses own_free of libown.so, which halo does not serve")


@pytest.mark.parametrize(
    ("name", "is_told"),
    [
        *(("foo_queue_size", False), ("foo_owned_jobs", False), ("foo_regions", False)),
        *(("foo_list_delete", False), ("foo_contains", False), ("foo_expand_path", False)),
        *(("scalable_msize", True), ("mi_is_owned", True), ("foo_aligned_realloc", True)),
    ],
)
def test_only_functions_that_may_take_a_block_are_told(
    tmp_path: Path, name: str, is_told: bool
) -> None:
    """A library that has a malloc does other work, too."""
    malloc = "#include <stddef.h>\nvoid *malloc(size_t n) { return 0; }\n"
    own = library(tmp_path, "own", f"{malloc}int {name}(void) {{ return 1; }}\n", "-fno-builtin")
    source = f"int {name}(void); int main(void) {{ return {name}(); }}"
    findings = examine(linked(tmp_path, "prog", source, own))
    said = [it.sentence for it in findings if it.what == "allocator functions"]
    assert any(name in sentence for sentence in said) == is_told


def test_functions_that_deal_with_all_blocks(tmp_path: Path) -> None:
    found_library = find_allocator("mimalloc").library
    assert found_library is not None
    program = uses(tmp_path, "mi_heap_visit_blocks(p, 1, p, p)", found_library)
    found = the(examine(program), "allocator functions")
    assert found.weight is Weight.NOTE
    assert "takes no part" in found.sentence


def test_arenas_that_a_program_resets(tmp_path: Path) -> None:
    program = uses(tmp_path, 'mallctl("arena.3.reset", p, 0, p, 0)', JEMALLOC)
    found = the(examine(program), "allocator functions")
    assert found.weight is Weight.NOTE and "arena.3.reset" in found.sentence
