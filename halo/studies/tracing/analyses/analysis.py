"""The type of analyses: SQL in two stages for all engines, and findings from the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

Value = int | str


@dataclass(frozen=True)
class Table:
    """A result: integers and strings only, so that all engines return the same bytes."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    def dicts(self) -> list[dict[str, Value]]:
        """Each row by the names of its columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class Queries:
    """The SQL of an analysis with its parameters substituted, for an engine.

    `keep` is empty, or SQL with one column: the values of `keep_key` whose accesses matter. An
    engine may drop all other accesses before it reduces; the report is the same.
    """

    reduce: str
    report: str
    steps: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    keep: str = ""
    keep_key: str = ""


class Analysis:
    """An analysis: two SQL texts in the common subset of DuckDB and Spark SQL.

    `reduce` reads only `accesses`, which may have billions of rows. It is one SELECT ... GROUP BY
    with COUNT, SUM, MIN, MAX or bit_or, so that a stream can update its result. `report` reads that
    result as `reduced`, and the tables `sites` (those that pass the filters; `all_sites` has all),
    `fields`, `allocations`, `frees` and `trace`. Its ORDER BY leaves no ties. `steps` are tables
    between the two, in order; `details` are further reports, for `findings`. {NAME} in any of them
    is the parameter NAME.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    reduce: ClassVar[str]
    report: ClassVar[str]
    steps: ClassVar[Mapping[str, str]] = {}
    details: ClassVar[Mapping[str, str]] = {}
    keep: ClassVar[str] = ""
    keep_key: ClassVar[str] = ""
    parameters: ClassVar[Mapping[str, Value]] = {"limit": 20}

    def fill(self, parameters: Mapping[str, Value]) -> Mapping[str, Value]:
        """The parameters for the SQL; an analysis may add to them."""
        return parameters

    def queries(self, parameters: Mapping[str, Value] | None = None) -> Queries:
        """The SQL with the parameters, or their defaults, substituted."""
        values = self.fill({**self.parameters, **(parameters or {})})
        return Queries(
            reduce=self.reduce.format(**values),
            report=self.report.format(**values),
            steps={name: text.format(**values) for name, text in self.steps.items()},
            details={name: text.format(**values) for name, text in self.details.items()},
            keep=self.keep.format(**values),
            keep_key=self.keep_key,
        )

    def rendered(self, report: Table) -> Table:
        """The report for the terminal: its columns, with formatted values."""
        return report

    def findings(self, report: Table, details: Mapping[str, Table]) -> Sequence[str]:
        """Conclusions from the rows, as sentences."""
        return ()
