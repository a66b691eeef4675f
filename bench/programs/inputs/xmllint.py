"""Makes a manual as XML, for xmllint: mixed content, tables and references that its DTD checks."""

from __future__ import annotations

import random

from common import word, words, write_roles

HEAD = """<?xml version="1.0"?>
<!DOCTYPE manual [
<!ELEMENT manual (title, chapter+)>
<!ELEMENT chapter (title, section+)>
<!ELEMENT section (title, (para | list | table | listing)+)>
<!ELEMENT title (#PCDATA)>
<!ELEMENT para (#PCDATA | em | code | ref | term | note)*>
<!ELEMENT note (#PCDATA | em | code)*>
<!ELEMENT em (#PCDATA)>
<!ELEMENT code (#PCDATA)>
<!ELEMENT term (#PCDATA)>
<!ELEMENT ref EMPTY>
<!ELEMENT list (item+)>
<!ELEMENT item (para+)>
<!ELEMENT table (row+)>
<!ELEMENT row (cell, cell+)>
<!ELEMENT cell (#PCDATA)>
<!ELEMENT listing (#PCDATA)>
<!ATTLIST section id ID #REQUIRED level (basic | expert) "basic">
<!ATTLIST ref to IDREF #REQUIRED>
<!ATTLIST listing language CDATA #IMPLIED>
]>
"""
SECTIONS = 12  # of a chapter


def paragraph(rng: random.Random, chapters: int) -> str:
    parts = []
    for _ in range(rng.randint(2, 6)):
        parts.append(words(rng, rng.randint(3, 14)))
        kind = rng.randrange(6)
        if kind == 0:
            parts.append(f'<ref to="s{rng.randrange(chapters)}.{rng.randrange(SECTIONS)}"/>')
        elif kind == 1:
            parts.append(f"<note>{words(rng, 6)} <code>{word(rng)}()</code></note>")
        else:
            name = ("em", "code", "term")[kind % 3]
            parts.append(f"<{name}>{word(rng)}</{name}>")
    return f"<para>{' '.join(parts)} &amp; {word(rng)}.</para>"


def block(rng: random.Random, chapters: int) -> str:
    kind = rng.randrange(10)
    if kind == 0:
        items = [f"<item>{paragraph(rng, chapters)}</item>" for _ in range(rng.randint(2, 5))]
        return f"<list>{''.join(items)}</list>"
    if kind == 1:
        columns = rng.randint(2, 5)
        rows = (
            "".join(f"<cell>{word(rng)} {rng.randrange(1000)}</cell>" for _ in range(columns))
            for _ in range(rng.randint(2, 8))
        )
        return f"<table><row>{'</row><row>'.join(rows)}</row></table>"
    if kind == 2:
        lines = [f"  {word(rng)}({word(rng)});" for _ in range(rng.randint(2, 9))]
        return "<listing language='c'>\n" + "\n".join(lines) + "</listing>"
    return paragraph(rng, chapters)


def manual(rng: random.Random, chapters: int) -> str:
    lines = [HEAD, f"<manual><title>{words(rng, 4)}</title>"]
    for chapter in range(chapters):
        lines.append(f"<chapter><title>{words(rng, 3)}</title>")
        for section in range(SECTIONS):
            level = ' level="expert"' if rng.random() < 0.2 else ""
            lines.append(f'<section id="s{chapter}.{section}"{level}>')
            lines.append(f"<title>{words(rng, 3)}</title>")
            lines += [block(rng, chapters) for _ in range(rng.randint(2, 9))]
            lines.append("</section>")
        lines.append("</chapter>")
    return "\n".join([*lines, "</manual>", ""])


if __name__ == "__main__":
    write_roles("xmllint", "xml", manual, 70, 240)
