"""Fields of objects without a known type: from the code that stores them, and from their bits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from halo.captured.births import Rows
from halo.captured.sites import WIDTHS, Field
from halo.captured.values import column_of, halves_of
from halo.layouts.contents_file import Contents
from halo.locations import BirthStores

_WORD = 8


def fields_of(
    known: Iterable[Field], stores: Iterable[BirthStores], contents: Contents, rows: Rows
) -> list[Field]:
    """Fields of the objects in these rows, which do not overlap, by offset.

    Those that are known at the call come first, then those that the followed code stores; a word
    with two numbers is two fields. The rest of an object is taken for words of 8 bytes if they look
    like pointers or reals, else for halves.
    """
    chosen: dict[int, Field] = {}
    taken: set[int] = set()
    end = int(contents.sizes[rows].min(initial=contents.words.shape[1] * _WORD))
    given = (*sorted(known, key=_place), *_stored(stores))
    halved = (it for field in given for it in halves_of(field, contents, rows) or (field,))
    for field in (*halved, *_guessed(end, contents, rows)):
        span = range(field.offset, field.offset + field.width)
        if span.stop <= end and taken.isdisjoint(span):
            taken.update(span)
            chosen[field.offset] = field
    return sorted(chosen.values(), key=_place)


def _place(field: Field) -> tuple[int, int]:
    return field.offset, field.width


def _stored(all_stores: Iterable[BirthStores]) -> Iterator[Field]:
    """Constants clear several fields at once, so their widths do not count."""
    for stores in all_stores:
        for one in stores.stores:
            if one.width in WIDTHS and not one.constant:
                yield Field(one.offset, one.width)


def _guessed(end: int, contents: Contents, rows: Rows) -> Iterator[Field]:
    for offset in range(0, end, _WORD):
        whole = Field(offset, _WORD)
        if offset + _WORD <= end and column_of(whole, contents, rows).kind in ("", "f64"):
            yield whole
    for width in (4, 2, 1):
        for offset in range(0, end - width + 1, width):
            yield Field(offset, width)
