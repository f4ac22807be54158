"""Docstrings and signatures as they are written here, for the reference."""

import re

from sphinx.application import Sphinx
from sphinx.ext import napoleon
from sphinx.ext.autodoc.preserve_defaults import update_default_value

EVENT = "autodoc-process-docstring"
_CHECKED = re.compile(r"(?:~?typing\.)?Annotated\[([^,\[\]]+), <[^>]*>\]")


def _all_but_attributes(app: Sphinx, what: str, *about: object) -> None:
    """Sections are read, but not of attributes, where Napoleon takes "a: b" for a type and more."""
    if what not in {"attribute", "data", "property"}:
        napoleon._process_docstring(app, what, *about)


def _without_checks(*about: str | None) -> tuple[str | None, str | None]:
    """A parameter's type without the function that checks it."""
    *_, arguments, returned = about
    return (arguments and _CHECKED.sub(r"\1", arguments)), returned


def _defaults_as_written(_: Sphinx, documented: object, bound: bool) -> None:  # noqa: FBT001 - Sphinx's
    """Defaults by the names that the source has for them; where it is decorated it has others."""
    if not hasattr(documented, "__wrapped__"):
        update_default_value(documented, bound)


def setup(app: Sphinx) -> dict[str, bool]:
    """Take the place of Napoleon's own listener."""
    app.setup_extension("sphinx.ext.napoleon")
    for listener in list(app.events.listeners[EVENT]):
        if listener.handler is napoleon._process_docstring:
            app.disconnect(listener.id)
    app.connect(EVENT, _all_but_attributes)
    app.connect("autodoc-before-process-signature", _defaults_as_written)
    app.connect("autodoc-process-signature", _without_checks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
