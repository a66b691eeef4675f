"""What an analysis is: one SQL text for all engines, in two stages, and what it concludes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

Value = int | str


@dataclass(frozen=True)
class Table:
    """A result: only integers and strings, so that all engines give the same bytes."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    def dicts(self) -> list[dict[str, Value]]:
        """Each row by the names of its columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class Queries:
    """An analysis with its parameters put in: what an engine runs.

    `keep` is empty, or names in its one column the values of `keep_key` whose accesses matter: an
    engine may leave out all others before it reduces, and the report comes out the same.
    """

    reduce: str
    report: str
    steps: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    keep: str = ""
    keep_key: str = ""


class Analysis:
    """An analysis: two SQL texts in what DuckDB and Spark SQL have in common.

    `reduce` reads `accesses` alone, which may be billions of rows: one SELECT ... GROUP BY with
    COUNT, SUM, MIN, MAX or bit_or, so that a stream can keep its answer up to date. `report` reads
    that answer as `reduced`, and `sites` (those that pass the filters; `all_sites` has the others
    too), `fields`, `allocations`, `frees` and `trace`. It ends in an ORDER BY that leaves no ties.
    `steps` are tables to make between the two, in order; `details` are further reports, for
    `findings`. {NAME} in any of them is the parameter NAME.
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
        """The parameters as the SQL wants them; an analysis may add to them."""
        return parameters

    def queries(self, parameters: Mapping[str, Value] | None = None) -> Queries:
        """The SQL with the parameters put in, and the defaults of those that are not given."""
        values = self.fill({**self.parameters, **(parameters or {})})
        return Queries(
            reduce=self.reduce.format(**values),
            report=self.report.format(**values),
            steps={name: text.format(**values) for name, text in self.steps.items()},
            details={name: text.format(**values) for name, text in self.details.items()},
            keep=self.keep.format(**values),
            keep_key=self.keep_key,
        )

    def shown(self, report: Table) -> Table:
        """The report for people: which columns the terminal shows, and how."""
        return report

    def findings(self, report: Table, details: Mapping[str, Table]) -> Sequence[str]:
        """What the rows mean for the program, as sentences."""
        return ()
