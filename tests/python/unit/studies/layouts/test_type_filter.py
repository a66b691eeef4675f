"""Names of types in one argument."""

from __future__ import annotations

import pytest

from halo.studies.layouts.type_filter import parse_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b", ("a", "b")),
        ("std::pair<int, long>, node", ("std::pair<int, long>", "node")),
        ("f(int, int)::local", ("f(int, int)::local",)),
        ("node", ("node",)),
        (" , ", ()),
        ("", ()),
    ],
)
def test_commas_in_brackets_belong_to_names(text: str, names: tuple[str, ...]) -> None:
    assert parse_names(text) == names
