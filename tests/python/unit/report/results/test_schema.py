"""Documents are loaded into their types, or refused in one sentence that names the place."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct, to_builtins
from msgspec.inspect import type_info

from halo.base.errors import BadInput
from halo.base.schema.document import Damaged, DocumentKind, convert, is_of, load
from halo.base.schema.values import Count, Number, Share
from support.command import REPOSITORY, load_module

PAGE = load_module(REPOSITORY / "scripts" / "generate_results_format.py", "generate_results_format")


class Part(Struct, frozen=True):
    """A part of the document below."""

    share: Share
    at: tuple[Number, Number] = (0.0, 1.0)


class Whole(Struct, frozen=True):
    """A document with a value of each kind."""

    format: str
    version: int
    count: Count
    parts: dict[str, list[Part]]
    name: str | None = None
    sure: bool = False


def renamed(document: dict[str, Any], version: int) -> dict[str, Any]:
    """Version 1 said `number`."""
    if version == 1:
        document["count"] = document.pop("number")
    return document


class Commented(Struct):
    """A comment is missing here."""

    first: int  # the first one
    second: int


KIND = DocumentKind("halo-whole", 2, Whole, "a whole", "give a whole", "make it again", renamed)
GOOD: dict[str, Any] = {
    "format": "halo-whole",
    "version": 2,
    "count": 3,
    "parts": {"first one": [], "second": [{"share": 0.5}, {"share": 1, "at": [2, 3.5]}]},
    "not known": [],
}


def test_a_document_is_loaded_into_its_type(tmp_path: Path) -> None:
    path = tmp_path / "whole.json"
    path.write_text(json.dumps(GOOD))
    found = load(path, KIND)
    assert found.parts == {"first one": [], "second": [Part(0.5), Part(1.0, (2.0, 3.5))]}
    assert (found.count, found.name) == (3, None)
    path.write_text(json.dumps(to_builtins(found)))
    assert load(path, KIND) == found
    assert is_of(path, KIND)


def test_an_earlier_version_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "whole.json"
    path.write_text(json.dumps({"format": "halo-whole", "version": 1, "number": 7, "parts": {}}))
    assert load(path, KIND).count == 7


def changed(value: object, *keys: str | int) -> str:
    """The good document with another value there, as JSON."""
    found = json.loads(json.dumps(GOOD))
    *above, last = keys
    holder = found
    for key in above:
        holder = holder[key]
    holder[last] = value
    return json.dumps(found)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is not a whole; give a whole"),
        ("not JSON", "is not a whole; give a whole"),
        ("[]", "is not a whole; give a whole"),
        ("[" * 100_000, "is not a whole; give a whole"),
        ('{"format": "halo-part"}', "is not a whole; give a whole"),
        ("\0\xff", "is not a whole; give a whole"),
        (json.dumps(GOOD)[:60], "is cut short or damaged; make it again"),
        (changed(3, "version"), "has version 3, this halo reads up to 2; use the newer halo"),
        (changed("2", "version"), "is damaged: it has no version; make it again"),
        (changed(True, "version"), "is damaged: it has no version; make it again"),
        ('{"format": "halo-whole", "version": 2}', "is damaged: count is missing"),
        (changed("3", "count"), "is damaged: count is not a whole number"),
        (changed(3.5, "count"), "count is not a whole number"),
        (changed(True, "count"), "count is not a whole number"),
        (changed(None, "count"), "count is not a whole number"),
        (changed(-1, "count"), "count is negative"),
        (changed(10**30, "count"), "count is impossibly large"),
        (changed(1, "name"), "name is not a text"),
        (changed(1, "sure"), "sure is neither true nor false"),
        (changed([], "parts"), "parts is not an object"),
        (changed({}, "parts", "first one"), "parts.first one is not a list"),
        (changed(1, "parts", "second", 0), "parts.second[0] is not an object"),
        (changed({}, "parts", "second", 1), "parts.second[1].share is missing"),
        (changed("1", "parts", "second", 1, "share"), "second[1].share is not a number"),
        (changed(float("nan"), "parts", "second", 1, "share"), "share is not a number"),
        (changed(float("inf"), "parts", "second", 1, "share"), "share is more than 1"),
        (changed(1.5, "parts", "second", 1, "share"), "parts.second[1].share is more than 1"),
        (changed(-0.5, "parts", "second", 1, "share"), "parts.second[1].share is negative"),
        (changed([1], "parts", "second", 1, "at"), "second[1].at has not 2 entries"),
        (changed(10**400, "parts", "second", 1, "at", 0), "at[0] is impossibly large"),
    ],
)
def test_wrong_documents_are_refused(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "whole.json"
    path.write_text(content, "latin-1")
    with pytest.raises(BadInput) as caught:
        load(path, KIND)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path} ") and words in sentence and sentence.endswith(".")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.json does not exist; give a whole\."):
        load(tmp_path / "none.json", KIND)
    with pytest.raises(BadInput, match="is a folder; give a whole"):
        load(tmp_path, KIND)
    assert not is_of(tmp_path, KIND)


def test_a_refused_value_is_left_as_it_was() -> None:
    raw = {"a": [{"share": 0.5}], "b": [{"share": 2}]}
    with pytest.raises(Damaged, match=r"^parts\.b\[0\]\.share is more than 1$"):
        convert(raw, dict[str, list[Part]], "parts")
    assert list(raw) == ["a", "b"]


TYPES = [it for name in PAGE.MODULES for it in PAGE.documents(import_module(name))]


def test_the_generated_page_has_every_field_with_its_meaning() -> None:
    _, *sections = re.split(r"^### ", PAGE.generate(), flags=re.MULTILINE)
    assert [section.split("\n")[0] for section in sections] == [it.__name__ for it in TYPES]
    anchors = {it.__name__.lower() for it in TYPES}
    assert len(anchors) == len(TYPES)
    for section, document in zip(sections, TYPES, strict=True):
        about = section.split("\n")[2]
        assert about.endswith("."), document
        rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| \S.* \|$", section, re.MULTILINE)
        fields: Any = type_info(document)
        assert sorted(rows) == sorted(it.encode_name for it in fields.fields), document
        assert set(re.findall(r"\]\(#(\w+)\)", section)) <= anchors


def test_a_field_without_a_comment_is_missed() -> None:
    assert set(PAGE.meanings(Commented)) == {"first"} != set(Commented.__annotations__)


def test_every_format_is_on_the_page() -> None:
    found = {
        ".".join(path.relative_to(REPOSITORY).with_suffix("").parts)
        for folder in ("base/schema", "studies")
        for path in (REPOSITORY / "halo" / folder).rglob("*.py")
        if "\nFORMAT, VERSION = " in path.read_text()
    }
    assert len(found) > 10
    assert found <= set(PAGE.MODULES)


def test_the_kept_page_leads_to_every_module() -> None:
    text = (REPOSITORY / "docs" / "results-format.md").read_text()
    for name in PAGE.MODULES:
        row = re.search(rf"\| \[(.+)\]\(\.\./{name.replace('.', '/')}\.py\) \|", text)
        assert row is not None, name
        for document in re.findall(r"`(\w+)`", row[1]):
            assert document in vars(import_module(name)), row[0]
