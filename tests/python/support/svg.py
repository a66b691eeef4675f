"""Figures as text."""

from __future__ import annotations

from xml.etree import ElementTree


def words(svg: bytes) -> str:
    """All text of an SVG, which must be well-formed."""
    return " ".join(" ".join(ElementTree.fromstring(svg).itertext()).split())
