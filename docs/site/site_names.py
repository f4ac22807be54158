"""Names for what the theme shows as an arrow alone, for those who hear a page."""

import re

from sphinx.application import Sphinx

AFTER_THE_THEME = 900
_FOLDED = re.compile(r"(>([^<>]+)</a><details[^>]*>)<summary>")


def _name_arrows(_app: Sphinx, _page: str, _template: str, context: dict, _doctree: object) -> None:
    """Let each arrow that unfolds a part of the contents say of which."""
    contents = context.get("generate_toctree_html")
    if contents:
        context["generate_toctree_html"] = lambda *given, **options: _FOLDED.sub(
            r'\1<summary aria-label="Pages of \2">', str(contents(*given, **options))
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Come after the theme."""
    app.connect("html-page-context", _name_arrows, priority=AFTER_THE_THEME)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
