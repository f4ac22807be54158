"""Every link within the built site leads somewhere, and nothing is loaded from elsewhere.

Run as `python docs/site/check_links.py build/site`.
"""

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script", "img", "link", "iframe", "source", "video", "audio", "object"}
FAR = {"http", "https"}
BESIDE = {"canonical", "license", "author"}  # what a link of a head may name without loading it


class Page(HTMLParser):
    """The anchors of a page, and what it points to: the tag, its attribute and where to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors = {"", "top"}
        self.links: list[tuple[str, str]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note the anchors and links of one element."""
        told = dict(attributes)
        self.anchors |= {value for name in ("id", "name") if (value := told.get(name))}
        if told.get("rel") not in BESIDE:
            self.links += [(tag, told[name] or "") for name in ("href", "src") if name in told]


def problems(site: Path) -> Iterator[str]:
    """What is wrong, in words."""
    shown = (path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts)
    pages = {path.resolve(): Page(path) for path in shown}
    if not pages:
        yield f"{site} holds no page"
    for path, page in pages.items():
        for tag, link in page.links:
            if fault := _fault(path, tag, link, pages):
                yield f"{path.relative_to(site.resolve())}: {link} {fault}"


def _fault(path: Path, tag: str, link: str, pages: dict[Path, Page]) -> str | None:
    to = urlsplit(link)
    if to.scheme == "data" or (to.scheme in {*FAR, "mailto"} and tag not in LOADED):
        return None
    if to.scheme or to.netloc:
        return "is loaded from elsewhere"
    target = (path.parent / unquote(to.path)).resolve() if to.path else path
    if not target.is_file():
        return "leads to no file"
    if target in pages and unquote(to.fragment) not in pages[target].anchors:
        return "leads to no such place"
    return None


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1])))
    print("\n".join(found) or "Every link leads somewhere, and nothing is loaded from elsewhere.")
    sys.exit(bool(found))
