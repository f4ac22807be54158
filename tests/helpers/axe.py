"""axe-core, which finds what cannot be read, heard or reached in a page."""

import importlib.util
from pathlib import Path

_LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
_RUN = """
document.getAnimations().forEach(one => one.finish());
axe.run(document, {preload: false, resultTypes: ['violations'], runOnly: %s}).then(found =>
  found.violations.map(rule => rule.id + ': ' + rule.nodes.map(node => node.html)[0]))
"""


def axe_core():
    """Where it is: in a package that has it, of which no more is used; None where it is not."""
    package = importlib.util.find_spec("axe_playwright_python")
    return package and Path(package.submodule_search_locations[0]) / "axe.min.js"


def violations(browser):
    """What the page that is open does against WCAG 2.2 at level AA: each rule, and a place."""
    browser.run(axe_core().read_text(encoding="utf-8") + ";0")
    return browser.run(_RUN % _LEVELS)
