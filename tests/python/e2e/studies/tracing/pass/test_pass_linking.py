"""The tracing pass's sections through the linker: shared libraries, archives, collection, LTO."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from support.tracing_stub import ENTER, LOAD, STORE, build_stub, compile_traced, trace, traced

MAIN = """
extern int helped;
int help(int value);
int main(int count, char** arguments) { return help(count) + helped - 7; }
"""
HELP = """
int helped;
int help(int value) { helped = value + 2; return helped + 1; }
int unused(int value) { helped = value; return 1; }
"""
WAYS = [
    ["-O2"],
    ["-O0"],
    ["-O2", "-fno-pie", "-no-pie"],
    ["-O2", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"],
    ["-O2", "-flto"],
    ["-O2", "-flto=thin"],
    ["-O2", "-fno-plt", "-Wl,-z,now"],
]


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_stub(tmp_path_factory.mktemp("stub"))


@pytest.fixture
def sources(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "help.c").write_text(HELP)
    return str(tmp_path / "main.c"), str(tmp_path / "help.c")


def sections(program: Path) -> dict[str, tuple[int, int]]:
    text = subprocess.run(
        ["readelf", "-SW", program], capture_output=True, text=True, check=True
    ).stdout
    found = re.findall(r"\] (halo_\w+) +\w+ +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", text)
    return {name: (int(begin, 16), int(begin, 16) + int(size, 16)) for name, begin, size in found}


def relocated(program: Path) -> list[int]:
    text = subprocess.run(
        ["readelf", "-rW", program], capture_output=True, text=True, check=True
    ).stdout
    return [int(place, 16) for place in re.findall(r"^([0-9a-f]{12,}) ", text, re.MULTILINE)]


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
def test_one_module_however_it_is_linked(
    stub: Path, tmp_path: Path, sources: tuple[str, str], way: list[str]
) -> None:
    found = traced(stub, tmp_path / "program", *sources, *way)
    assert found.status == 0
    assert [module["module"] for module in found.modules] == [1, -1]
    (begin, _) = found.modules
    assert (begin["version"], begin["site_size"]) == (1, 48)
    assert [e["word2"] for e in found.of(STORE, variable="helped")] == [3]
    assert [e["function"] for e in found.of(ENTER)] == ["main", "help"]
    places = sections(tmp_path / "program")
    assert set(places) == {"halo_sites", "halo_strings"}  # no class, no notes of types
    for address in relocated(tmp_path / "program"):
        assert not any(start <= address < end for start, end in places.values())


def test_a_shared_library_is_a_module_of_its_own(
    stub: Path, tmp_path: Path, sources: tuple[str, str]
) -> None:
    library = tmp_path / "libhelp.so"
    done = compile_traced(stub, library, sources[1], "-O2", "-fPIC", "-shared")
    assert done.returncode == 0, done.stderr
    found = traced(
        stub, tmp_path / "program", sources[0], "-O2", str(library), f"-Wl,-rpath,{tmp_path}"
    )
    assert sorted(module["module"] for module in found.modules) == [-1, -1, 1, 1]
    assert found.of(STORE, variable="helped") and found.of(LOAD, variable="helped")


def test_an_archive_and_a_partial_link(
    stub: Path, tmp_path: Path, sources: tuple[str, str]
) -> None:
    for source in sources:
        target = Path(source).with_suffix(".o")
        assert compile_traced(stub, target, source, "-O2", "-c").returncode == 0
    subprocess.run(["ld", "-r", "main.o", "-o", "part.o"], cwd=tmp_path, check=True)
    subprocess.run(["ar", "rcs", "libhelp.a", "help.o"], cwd=tmp_path, check=True)
    part, archive = str(tmp_path / "part.o"), str(tmp_path / "libhelp.a")
    found = traced(stub, tmp_path / "program", part, archive)
    assert [module["module"] for module in found.modules] == [1, -1]
    assert [e["function"] for e in found.of(ENTER)] == ["main", "help"]


def test_inline_functions_of_several_units(stub: Path, tmp_path: Path) -> None:
    """The linker keeps one copy of the function; its sites are those of the unit it came from."""
    (tmp_path / "shared.h").write_text(
        "struct counter { int hits; };\ninline int hit(counter& c) { return ++c.hits; }\n"
        "int other(counter& c);\n"
    )
    (tmp_path / "one.cc").write_text(
        '#include "shared.h"\nint main() { counter c{}; hit(c); return other(c) - 2; }\n'
    )
    (tmp_path / "two.cc").write_text(
        '#include "shared.h"\nint other(counter& c) { return hit(c); }\n'
    )
    units = [str(tmp_path / "one.cc"), str(tmp_path / "two.cc")]
    found = traced(stub, tmp_path / "program", *units, "-O0")
    assert found.status == 0
    hits = found.of(STORE, variable="counter.hits")
    assert [(event["word2"], event["line"]) for event in hits] == [(1, 2), (2, 2)]
    assert [module["module"] for module in found.modules] == [1, -1]


def test_registers_are_kept(stub: Path, tmp_path: Path) -> None:
    """The hook keeps all registers, so values stay in them across it: a sum that needs many."""
    source = tmp_path / "sums.c"
    source.write_text(
        "double a[16];\nint main(int count, char** arguments) {\n"
        "  double s0 = 0, s1 = 1, s2 = 2, s3 = 3, s4 = 4, s5 = 5;\n"
        "  long t0 = count, t1 = 2, t2 = 3, t3 = 4, t4 = 5;\n"
        "  for (int i = 0; i < 16; ++i) {\n    a[i] = i;\n    s0 += a[i] * s1; s1 += s2;\n"
        "    s2 += s3; s3 += s4; s4 += s5; t0 += t1; t1 ^= t2; t2 += t3; t3 += t4; t4 += i;\n  }\n"
        "  return (int)(((long)s0 + t0 + t1) & 127);\n}\n"
    )
    plain = tmp_path / "plain"
    subprocess.run(["clang-19", "-O2", source, "-o", plain], check=True)
    expected = subprocess.run([plain], check=False).returncode
    assert traced(stub, tmp_path / "sums", str(source), "-O2").status == expected
    assert trace(tmp_path / "sums").of(STORE, variable="a[]")
