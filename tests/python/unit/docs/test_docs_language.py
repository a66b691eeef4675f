"""Most sentences of the docs are short: on the pages that readers see first, and in every lead."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import REPOSITORY
from support.sentences import lead, sentences, split, words

MAX_WORDS = 25
MAX_LONG_SENTENCES = 20  # over all pages
DOCS = REPOSITORY / "docs"
FIRST_PAGES = [REPOSITORY / "README.md", *(DOCS / f"{it}.md" for it in ("README", "glossary"))]
FIRST_PAGES += [DOCS / f"{it}.md" for it in ("architecture", "measuring", "cli")]


def long_sentences(text: str) -> list[str]:
    return [sentence for sentence in sentences(text) if words(sentence) > MAX_WORDS]


def test_few_sentences_are_long() -> None:
    found = [sentence for page in FIRST_PAGES for sentence in long_sentences(page.read_text())]
    for page in sorted(set(DOCS.rglob("*.md")) - set(FIRST_PAGES)):
        found += [f"{page.name}: {sentence}" for sentence in long_sentences(lead(page.read_text()))]
    assert len(found) <= MAX_LONG_SENTENCES, "\n".join(found)


@pytest.mark.parametrize("page", FIRST_PAGES, ids=lambda page: page.name)
def test_first_pages_have_sentences(page: Path) -> None:
    """The count above is not low because the splitter finds no prose."""
    assert len(sentences(page.read_text())) > (1 if page.name == "glossary.md" else 10)


PAGE = """# A heading. It has two.

The first sentence ends here. The second one
goes on over lines, with version 1.5 and e.g. an abbreviation (i.e. two of them).

- an item without a full stop
- an item. And another sentence in it:

      code in an item. Not prose.

1. A step, with `code. In it` and [a link. It is one](page.md#place.html).
2. Is this one? Yes!

    indented code. Not prose.

| a table. | Not prose. |
| --- | --- |

```
fenced code. Not prose.
```

![a picture. Not prose.](picture.svg)
*A caption.* **A start.** The rest.

## The next section

Not in the lead.
"""


def test_sentences_of_a_page() -> None:
    assert sentences(PAGE) == [
        "The first sentence ends here.",
        "The second one goes on over lines, with version 1.5 and e.g. an abbreviation"
        " (i.e. two of them).",
        "an item without a full stop",
        "an item.",
        "And another sentence in it:",
        "A step, with CODE and a link.",
        "It is one.",
        "Is this one?",
        "Yes!",
        "*A caption.*",
        "**A start.**",
        "The rest.",
        "Not in the lead.",
    ]


def test_the_lead_ends_at_the_first_section() -> None:
    assert sentences(lead(PAGE)) == sentences(PAGE)[:-1]
    assert sentences(lead("# A page\n\nAll of it.")) == ["All of it."]


@pytest.mark.parametrize(
    ("paragraph", "ends"),
    [
        ("One. Two.", 2),
        ("A signal. A sink (see Fig. 3). Miucin et al. measured it.", 3),
        ("Read halo.plan.json and 0.5 s... then more", 2),
        ('He wrote "Stop." Then he left.', 2),
        ("No end", 1),
        ("", 0),
    ],
)
def test_where_sentences_end(paragraph: str, ends: int) -> None:
    assert len(split(paragraph)) == ends


def test_words_have_letters_or_digits() -> None:
    assert words("One two-word term — and 3 % of `CODE` * 2.") == 8
    assert words("* — ·") == 0
