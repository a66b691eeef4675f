"""Assembles the page: a section for each result, one template, no external resources."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

import jinja2

from halo import __version__
from halo.base.schema.results import Machine
from halo.report.figures.drawing.style import group_colour, text_on
from halo.report.findings import FindingsBlock
from halo.report.overview import overview
from halo.report.results import Measurement
from halo.report.section import section
from halo.report.verdict import judge


def render_report(
    measurements: Sequence[Measurement], findings: Sequence[FindingsBlock] = ()
) -> str:
    """The whole page as HTML; everything that comes from files is escaped."""
    verdicts = [judge(measurement) for measurement in measurements]
    pairs = list(zip(measurements, verdicts, strict=True))
    folder = files("halo.report")
    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(lambda name: (folder / name).read_text("utf-8")),
    )
    return environment.get_template("page.html").render(
        sections=[section(m, verdict, index) for index, (m, verdict) in enumerate(pairs, 1)],
        findings=findings,
        together=len(pairs) + len(findings),
        programs=_programs(measurements, findings),
        overview=overview(measurements, verdicts),
        colour=group_colour,
        text_on=text_on,
        machine=machine_rows(measurements[0].machine) if measurements else [],
        version=__version__,
    )


def _programs(measurements: Sequence[Measurement], findings: Sequence[FindingsBlock]) -> list[str]:
    """The names of the programs, without duplicates."""
    names = [found.program for found in measurements] + [found.program for found in findings]
    return list(dict.fromkeys(names))


def machine_rows(machine: Machine) -> list[tuple[str, str]]:
    """The machine of the measurements, which are all of the same one."""
    return [
        ("processor", machine.processor),
        ("cores", str(machine.cores)),
        ("memory", f"{machine.memory_bytes / 1e9:.1f} GB"),
        ("system", machine.system),
        ("kernel", machine.kernel),
        ("huge pages", machine.huge_pages.enabled),
        *machine.versions.items(),
    ]
