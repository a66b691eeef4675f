"""Makes a PDF file for qpdf: pages with links, fonts, an outline and names of places."""

from __future__ import annotations

import random

from common import word, words, write_roles


class Document:
    """Numbers objects from 1, the catalogue, and writes them with their table of offsets."""

    def __init__(self) -> None:
        self.bodies = [""]

    def add(self, body: str) -> str:
        """A reference to the new object."""
        self.bodies.append(body)
        return f"{len(self.bodies)} 0 R"

    def text(self) -> str:
        parts, offsets = ["%PDF-1.4\n"], []
        size = len(parts[0])
        for number, body in enumerate(self.bodies, 1):
            offsets.append(f"{size:010} 00000 n \n")
            parts.append(f"{number} 0 obj\n{body}\nendobj\n")
            size += len(parts[-1])
        count = len(self.bodies) + 1
        table = f"xref\n0 {count}\n0000000000 65535 f \n{''.join(offsets)}"
        trailer = f"trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{size}\n%%EOF\n"
        return "".join([*parts, table, trailer])


def stream(rng: random.Random) -> str:
    shown = [f"/F{rng.randrange(3)} 11 Tf ({words(rng, 6)}) Tj T*" for _ in range(12)]
    text = "BT 72 720 Td 14 TL\n" + "\n".join(shown) + "\nET"
    return f"<< /Length {len(text)} >>\nstream\n{text}\nendstream"


def page(rng: random.Random, document: Document, parent: str, fonts: list[str]) -> str:
    links = []
    for _ in range(rng.randint(1, 8)):
        box = " ".join(str(rng.randrange(20, 700)) for _ in range(4))
        border = f"/Border [ 0 0 {rng.randint(0, 2)} ] /C [ 0 {rng.random():.2f} 1 ]"
        place = f"/Dest (place {rng.randrange(400)})"
        links.append(
            document.add(f"<< /Type /Annot /Subtype /Link /Rect [ {box} ] {border} {place} >>")
        )
    used = " ".join(f"/F{place} {rng.choice(fonts)}" for place in range(3))
    return document.add(
        f"<< /Type /Page /Parent {parent} /MediaBox [ 0 0 595 842 ] /Annots [ {' '.join(links)} ]"
        f" /Resources << /Font << {used} >> >> /Contents {document.add(stream(rng))} >>"
    )


def file(rng: random.Random, pages: int) -> str:
    document = Document()
    tree = document.add("")
    fonts = []
    for _ in range(40):
        widths = " ".join(str(rng.randint(200, 900)) for _ in range(224))
        name = f"/Type1 /BaseFont /{word(rng).title()} /FirstChar 32 /LastChar 255"
        fonts.append(document.add(f"<< /Type /Font /Subtype {name} /Widths [ {widths} ] >>"))
    kids = [page(rng, document, tree, fonts) for _ in range(pages)]
    document.bodies[1] = f"<< /Type /Pages /Count {pages} /Kids [ {' '.join(kids)} ] >>"
    names = sorted((f"place {place}", rng.choice(kids)) for place in range(400))
    places = " ".join(f"({name}) [ {kid} /Fit ]" for name, kid in names)
    first, root = len(document.bodies) + 2, len(document.bodies) + 1
    entries = [
        f"<< /Title ({words(rng, 3)}) /Parent {root} 0 R /Dest [ {kid} /Fit ]"
        + (f" /Prev {first + at - 1} 0 R" if at else "")
        + (f" /Next {first + at + 1} 0 R" if at + 1 < len(kids) else "")
        + " >>"
        for at, kid in enumerate(kids)
    ]
    outline = document.add(
        f"<< /Type /Outlines /First {first} 0 R /Last {first + pages - 1} 0 R /Count {pages} >>"
    )
    for entry in entries:
        document.add(entry)
    document.bodies[0] = (
        f"<< /Type /Catalog /Pages {tree} /Outlines {outline} /Names << /Dests"
        f" << /Names [ {places} ] >> >> >>"
    )
    return document.text()


if __name__ == "__main__":
    write_roles("qpdf", "pdf", file, 400, 4_000)
