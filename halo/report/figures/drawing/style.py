"""The style of figures: fonts, colours for colour-blind readers, and output formats."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.transforms import Bbox

# Okabe and Ito's palette without black and yellow, which resemble text and white.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
HATCHES = ("", "////", "....", "xxxx")
GREY = "#9A9A9A"
INK = "#222222"
DPI = 160
DIGITS = 6
"""Decimals of a position relative to the figure's size: less than a hundredth of a pixel."""

POSITION = re.compile(rb"\d+\.\d{3,}")


def check_matplotlib() -> None:
    """`ModuleNotFoundError` if it has no legends outside of axes, which most figures have."""
    if matplotlib.__version_info__ < (3, 8):
        raise ModuleNotFoundError(name="matplotlib>=3.8")


def look(number: int) -> tuple[str, str]:
    """Colour and hatch of the configuration with that number; different for the first 24."""
    return COLOURS[number % len(COLOURS)], HATCHES[number // len(COLOURS) % len(HATCHES)]


def group_colour(group: int | None) -> str:
    """The colour of a context by its group; grey if it has none."""
    return GREY if group is None else COLOURS[group % len(COLOURS)]


def text_on(colour: str) -> str:
    """Black or white: the one with more contrast to that colour."""
    red, green, blue = ((int(colour[at : at + 2], 16) / 255) ** 2.2 for at in (1, 3, 5))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000000" if luminance > 0.2 else "#FFFFFF"


@contextmanager
def canvas(width: float, height: float) -> Iterator[Canvas]:
    """An empty figure of that size in inches; drawing inside the context has halo's style."""
    with (
        matplotlib.rc_context(
            {
                "font.family": "DejaVu Sans",
                "font.size": 9,
                "axes.edgecolor": "#666666",
                "axes.labelcolor": INK,
                "axes.spines.top": False,
                "axes.spines.right": False,
                "hatch.linewidth": 0.7,
                "pdf.fonttype": 42,
                "svg.fonttype": "none",
                "svg.hashsalt": "halo",
                "text.parse_math": False,
            }
        ),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", message="Glyph")
        yield Canvas(figsize=(width, height), layout="constrained")


def style_axes(axes: Axes) -> None:
    """Draws grid lines behind the data, for values only."""
    axes.set_axisbelow(True)
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.7)
    axes.tick_params(axis="x", length=0)


def style_horizontal(axes: Axes) -> None:
    """The same for bars that lie."""
    axes.set_axisbelow(True)
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.7)
    axes.tick_params(axis="both", length=0)


def footnote(drawing: Canvas, text: str) -> None:
    """Adds small print at the bottom: baseline, input, machine."""
    drawing.supxlabel(text, fontsize=7.5, color="#555555", x=0.01, ha="left")


def save(drawing: Canvas, ending: str) -> bytes:
    """The file's content; reproducible, so without a date."""
    _lay_out(drawing)
    stream = io.BytesIO()
    dates = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
    drawing.savefig(stream, format=ending, dpi=DPI, metadata=dates[ending])
    content = stream.getvalue()
    return _minified(content) if ending == "svg" else content


def _minified(svg: bytes) -> bytes:
    """The figure in one line, with positions in hundredths of a point; texts stay as they are."""
    one_line = re.sub(rb"\s*\n\s*", b" ", svg)
    return re.sub(rb"<[^>]*>", lambda tag: POSITION.sub(_rounded, tag[0]), one_line)


def _rounded(position: re.Match[bytes]) -> bytes:
    return b"%.2f" % float(position[0])


def _lay_out(drawing: Canvas) -> None:
    """Lays out a figure of several parts, and rounds the positions of parts and axes.

    The layout engine sums in the order of its variables' addresses, so the last digits of
    positions differ from one drawing to the next.
    """
    engine = drawing.get_layout_engine()
    if engine is None or not drawing.subfigs:
        return
    drawing.set_dpi(DPI)
    engine.execute(drawing)
    drawing.set_layout_engine("none")
    for part in drawing.subfigs:
        part.bbox_relative.set_points(part.bbox_relative.get_points().round(DIGITS))
    for axes in drawing.axes:
        for which in ("original", "active"):
            box = axes.get_position(which == "original")
            axes.set_position(Bbox(box.get_points().round(DIGITS)), which)
