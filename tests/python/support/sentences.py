"""The sentences of a Markdown page: its prose without code, tables, headings and link targets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

ABBREVIATIONS = ("e.g.", "i.e.", "cf.", "vs.", "al.", "Fig.", "No.", "St.")
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
INDENTED_CODE = re.compile(r"(?<=\n\n)(?: {4,}\S.*\n|\n(?= {4,}\S))+")
NO_PROSE = re.compile(r"^\s*(\||#|!\[|---)")
ITEM = re.compile(r"^\s*(?:[-*]|\d+\.) +")
CODE_SPAN = re.compile(r"``.+?``|`[^`]+`", re.DOTALL)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
END = re.compile(r"[.!?][)\]\"*”]*(?=\s)|$")


def lead(page: str) -> str:
    """The page up to its first heading of the second level."""
    return re.split(r"^## ", page, maxsplit=1, flags=re.MULTILINE)[0]


def paragraphs(page: str) -> Iterator[str]:
    """Paragraphs and list items, each on one line, without markup."""
    text = CODE_SPAN.sub("CODE", INDENTED_CODE.sub("", FENCE.sub("", page)))
    for block in re.split(r"\n\s*\n", text):
        collected: list[str] = []
        for line in block.splitlines():
            if (ITEM.match(line) or NO_PROSE.match(line)) and collected:
                yield " ".join(collected)
                collected = []
            if not NO_PROSE.match(line):
                collected.append(ITEM.sub("", line).strip())
        if collected:
            yield " ".join(collected)


def split(paragraph: str) -> list[str]:
    """A sentence ends at a full stop before white space, but not in an abbreviation."""
    text = LINK.sub(r"\1", paragraph).strip()
    ends = [0, *(match.end() for match in END.finditer(text) if ends_sentence(text, match.end()))]
    return [text[start:end].strip() for start, end in pairwise(ends) if text[start:end].strip()]


def ends_sentence(text: str, end: int) -> bool:
    before = text[:end].split()
    return end == len(text) or not before or before[-1].lstrip("(*") not in ABBREVIATIONS


def sentences(page: str) -> list[str]:
    return [sentence for paragraph in paragraphs(page) for sentence in split(paragraph)]


def words(sentence: str) -> int:
    return sum(any(letter.isalnum() for letter in word) for word in sentence.split())
