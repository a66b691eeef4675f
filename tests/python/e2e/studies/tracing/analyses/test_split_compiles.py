"""The structures that `halo study trace split` suggests compile, with the sizes reported."""

from __future__ import annotations

import random
import subprocess

from halo.studies.tracing.analyses.split.text import declare
from halo.studies.tracing.analyses.split.types import DeclaredClass
from support.samples.split import arc, chosen, declared


def compiles(text: str, before: str, *flags: str) -> None:
    subprocess.run(
        ["gcc", "-fsyntax-only", "-Wall", "-Werror", *flags, "-"],
        input=before + text,
        text=True,
        check=True,
    )


def test_the_suggested_text_is_c_and_has_the_sizes_that_it_says() -> None:
    text = arc().suggestion
    sizes = '_Static_assert(sizeof(struct arc) == 16 && sizeof(struct arc_cold) == 64, "");\n'
    compiles(text + sizes, "struct arc; struct node; struct point { int x, y; };\n", "-xc")
    assert "struct node *tail;" in text and "int (*compare)(const struct arc *);" in text


TYPES = (
    *(("char", 1, 1), ("short", 2, 2), ("int", 4, 4), ("long", 8, 8), ("double", 8, 8)),
    *(("char[13]", 13, 1), ("short[3]", 6, 2), ("int[2][5]", 40, 4), ("void *", 8, 8)),
    *(("void (*)(int)", 8, 8), ("float[3]", 12, 4), ("long double", 16, 16)),
)


def random_structure(source: random.Random, name: str) -> DeclaredClass:
    """Laid out as the ABI says."""
    fields, at, strictest = [], 0, 1
    for number in range(source.randint(3, 14)):
        type_, size, align = source.choice(TYPES)
        at = -(-at // align) * align
        fields.append((f"f{number}", type_, at, size))
        at, strictest = at + size, max(strictest, align)
    return declared(name, -(-at // strictest) * strictest, *fields)


def test_sizes_and_text_of_random_structures_are_those_of_the_compiler() -> None:
    source, texts = random.Random(3), []
    for number in range(120):
        whole = random_structure(source, f"s{number}")
        body = "".join(f"{declare(it.type, it.name)};" for it in whole.fields)
        texts.append(f"struct whole{number} {{ {body} }};")
        texts.append(f'_Static_assert(sizeof(struct whole{number}) == {whole.bytes}, "");')
        found = chosen(whole, source.choice(whole.fields).name)
        if found.parts is None:
            continue
        texts.append(found.suggestion)
        for part, size in (("", found.parts.hot_bytes), ("_cold", found.parts.cold_bytes)):
            texts.append(f'_Static_assert(sizeof(struct s{number}{part}) == {size}, "{number}");')
    assert len([text for text in texts if "_cold {" in text]) > 80
    compiles("\n".join(texts) + "\n", "", "-xc")


def test_the_text_of_what_is_hard_to_write_down() -> None:
    odd = declared(
        "odd",
        96,
        ("key", "int", 0, 4),
        ("a", "unsigned int", 4, 1),
        ("b", "unsigned int", 4, 1),
        ("calls", "int (*)(int)[2]", 8, 16),
        ("grid", "int[2][3]", 24, 24),
        ("row", "int[4] *", 48, 8),
        ("", "(unnamed union at odd.h:9)", 56, 8),
        ("in", "(unnamed struct at odd.h:12)", 64, 16),
        ("data", "char[]", 80, 0),
    )
    inner = declared("(unnamed struct at odd.h:12)", 16, ("p", "long", 0, 8), ("q", "long", 8, 8))
    found = chosen(odd, "key", inner)
    text = found.suggestion
    for line in (
        "int (*calls[2])(int);",
        "int grid[2][3];",
        "int (*row)[4];",
        "unsigned char bytes_56[8]; /* as declared at offset 56, of type (unnamed union",
        "long in_p; /* was in.p */",
        "unsigned int b;",
        "char data[];",
    ):
        assert line in text
    compiles(text, "", "-xc")


def test_an_open_array_stays_the_last() -> None:
    text = chosen(
        declared(
            "m",
            40,
            ("n", "long", 0, 8),
            ("a", "long", 8, 8),
            ("b", "long[3]", 16, 24),
            ("data", "char[]", 40, 0),
        ),
        "data",
    ).suggestion
    compiles(text.replace("struct m {", "struct m { int n;"), "", "-xc")
    assert text.index("*cold;") < text.index("char data[];")
