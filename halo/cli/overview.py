"""What `halo --help` shows: the commands in groups by purpose, and what to type first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from halo.base.console.parser import Parser
from halo.cli.registry import CommandGroup

USAGE = "halo COMMAND [OPTIONS] [-- PROG ARGS]"
PURPOSE = "Makes native Linux programs faster by placing heap objects from evidence."
CLOSING = "Help for a command: halo help COMMAND. More: docs/cli.md"
START = ("doctor", "probe", "run", "exec", "report")
RESEARCH = ("bench", "study")
EXAMPLES = (
    "halo doctor -- PROG ARGS",
    "halo run -- PROG SMALL-ARGS -- PROG LARGE-ARGS",
    "halo exec --plan PLAN -- PROG ARGS",
)


def summary_of(group: CommandGroup) -> str:
    """The group's summary, and its commands."""
    return f"{group.summary.rstrip('.')}: {', '.join(it.name for it in group.commands)}."


def sections(names: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """The names of commands and groups by purpose; those that are in no list are single steps."""
    others = [name for name in names if name not in START + RESEARCH]
    return {"Start here": START, "Step by step": others, "Research": RESEARCH}


class OverviewParser(Parser):
    """The parser of `halo` itself, whose help has the commands by section."""

    def format_help(self) -> str:
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, [], [])
        formatter.add_text(self.description)
        entries = {entry.dest: entry for entry in self.entries}
        for heading, names in sections(entries).items():
            formatter.start_section(heading)
            formatter.add_arguments([entries[name] for name in names])
            formatter.end_section()
        formatter.add_text("\n".join(["Examples:", *(f"  {line}" for line in EXAMPLES)]))
        formatter.start_section("Options")
        formatter.add_arguments([it for it in self._actions if it.option_strings])
        formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()
