"""The pages of the documents, and the blocks of code that stand in them."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text_of(page):
    """The Markdown of a page, by its name without a suffix."""
    return (DOCS / f"{page}.md").read_text()


def blocks_of(page):
    """All blocks of a page: pairs of a language and a text."""
    return _BLOCK.findall(text_of(page))


def blocks(page, language):
    """The texts of the blocks in one language; "" is what a terminal shows."""
    return [text for name, text in blocks_of(page) if name == language]
