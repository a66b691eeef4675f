"""Pages of `halo report`: checked as text, and opened in a browser."""

from __future__ import annotations

import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Checker(HTMLParser):
    """Collects tags that do not close, and whatever could be fetched from elsewhere."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.references: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.handle_startendtag(tag, attributes)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "img", "iframe", "object"):
            self.wrong.append(tag)
        self.references += [v or "" for k, v in attributes if k in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.text += f" {data}"


def checked(page: str) -> str:
    """The page's text; it must be well-formed and refer to nothing outside itself."""
    found = Checker()
    found.feed(page)
    found.close()
    assert found.wrong == [] and found.open == []
    assert all(it.startswith("#") or it == "data:," for it in found.references)
    assert "url(" not in page and "@import" not in page
    return " ".join(found.text.split())


def fives(raw: dict[str, Any]) -> dict[str, Any]:
    """The document with its trials repeated: enough of them to conclude from."""
    trials = raw["trials"]["reference"]
    raw["trials"]["reference"] = {label: found * 2 for label, found in trials.items()}
    return raw


CHROMIUM = shutil.which("chromium")
# A window has a least width, a frame has none.
PROBE = """<!DOCTYPE html><title>not yet</title>
<iframe style="width: {width}px; height: 800px; border: 0" srcdoc="{page}"></iframe>
<script>
addEventListener("load", () => {{
  const page = document.querySelector("iframe").contentDocument;
  for (const part of page.querySelectorAll("details")) part.open = true;
  const {{ scrollWidth, clientWidth }} = page.documentElement;
  document.title = [page.defaultView.innerWidth, scrollWidth - clientWidth].join(" ");
}});
</script>"""


def browse(page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    assert CHROMIUM is not None
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    scratch = f"--user-data-dir={page.parent / 'browser'}"
    return subprocess.run(
        [*command, "--v=0", scratch, *options, page.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
