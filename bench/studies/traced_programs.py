"""The seven programs whose layouts the thesis of Miucin simulates (section 3.5.1), or their kin.

Inputs are small: a trace has some 10^7 accesses. Where the thesis has programs of SPEC CPU2017,
Debian's nearest ones stand: sjeng for deepsjeng, xalan for xalancbmk; and `arcs` has mcf's fault.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from halo.base.settings import Settings

sys.path.insert(0, str(Path(__file__).parents[1] / "programs" / "inputs"))
from common import generator
from xsltproc import STYLESHEET, catalogue

# A position of many captures, to a fixed depth: xboard's commands.
CHESS = """xboard
setboard r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -
sd 3
go
quit
"""
BOOKS = 90


@dataclass(frozen=True)
class Traced:
    """`program` is ours, or Debian's of a `package`. `{inputs}` stands for the folder of inputs.

    `phase` has the options for the traversal alone, where the program builds something first.
    """

    program: str
    arguments: tuple[str, ...]
    package: str = ""
    phase: tuple[str, ...] = ()
    stdin: str = ""

    def command(self, settings: Settings, inputs: Path) -> list[str]:
        """Ends this program, and names the package, if the program is missing."""
        path = shutil.which(self.program, path="/usr/bin:/usr/games") if self.package else None
        if self.package and path is None:
            sys.exit(f"{self.program} is missing; to install it: apt-get install {self.package}")
        path = path or str(settings.build / "bench" / self.program)
        return [path, *(one.replace("{inputs}", str(inputs)) for one in self.arguments)]


PROGRAMS = {
    "mesh": Traced(
        "mesh",
        ("200", "200", "400000", "1"),
        phase=("--phase", "(anonymous namespace)::walk"),
    ),
    "pagerank": Traced(
        "pagerank",
        ("20000", "130000", "4", "1"),
        phase=("--phase", "(anonymous namespace)::iterate"),
    ),
    "rbtree": Traced(
        "rbtree", ("60000", "100000", "5000", "1"), phase=("--phase", "rbtree::Tree::find")
    ),
    "arcs": Traced("arcs", ("400000", "100", "1")),
    "kcstashtest": Traced("kcstashtest", ("order", "-rnd", "12000"), "kyotocabinet-utils"),
    "sjeng": Traced("sjeng", (), "sjeng", stdin=CHESS),
    "xalan": Traced("xalan", ("-in", "{inputs}/books.xml", "-xsl", "{inputs}/report.xsl"), "xalan"),
}


def write_inputs(folder: Path) -> None:
    (folder / "report.xsl").write_text(STYLESHEET)
    write_books(folder / "books.xml", BOOKS)


def write_books(file: Path, books: int) -> None:
    """A catalogue of that many books."""
    file.write_text(catalogue(generator("traced xalan"), books))
