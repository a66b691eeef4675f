"""Replaces the tables of a page by the files that they come from.

insert_tables.py PAGE FOLDER   what is between `<!-- generated: NAME -->` and `<!-- end -->` becomes
                               FOLDER/NAME.md
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

REGION = re.compile(r"(<!-- generated: (\S+) -->\n\n).*?(\n<!-- end -->)", re.DOTALL)


def inserted(page: str, folder: Path) -> str:
    """The page with the tables of that folder."""
    return REGION.sub(
        lambda found: found[1] + (folder / f"{found[2]}.md").read_text() + found[3], page
    )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit((__doc__ or "").strip())
    file = Path(sys.argv[1])
    file.write_text(inserted(file.read_text(), Path(sys.argv[2])))
