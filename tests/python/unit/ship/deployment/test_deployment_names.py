"""Paths and names that LD_PRELOAD, systemd, Docker and shells read alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from halo.base.errors import UsageError
from halo.ship.deployment.names import check_place, safe_name, unit_name


@pytest.mark.parametrize("place", ["/opt/app/halo", "/srv/Ä_1/x@2.0+b=c,d-e"])
def test_places(place: str) -> None:
    check_place(Path(place), "--path")


@pytest.mark.parametrize(
    "place", ["opt/app", "/a b", "/a:b", "/a$b", "/a%b", "/a'b", '/a"b', "/a\\b", "/a\nb", "/a#b"]
)
def test_places_that_some_reader_takes_apart(place: str) -> None:
    with pytest.raises(UsageError, match="--path"):
        check_place(Path(place), "--path")


def test_a_name_never_starts_a_new_line_or_word() -> None:
    assert safe_name("my prog\nLD_PRELOAD=x:y/z") == "my_prog_LD_PRELOAD=x_y_z"


@pytest.mark.parametrize(("given", "unit"), [("app", "app.service"), ("a@.service", "a@.service")])
def test_units(given: str, unit: str) -> None:
    assert unit_name(given) == unit


@pytest.mark.parametrize("given", ["", "../app", "a b", "app.socket", "app.timer"])
def test_names_that_are_not_a_service(given: str) -> None:
    with pytest.raises(UsageError, match="not a service"):
        unit_name(given)
