"""Formulas as MathML: browsers lay it out by themselves, with one font and no script."""

import re
import shutil
from pathlib import Path

import ziamath
from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

_UNDER = re.compile(r"\\(max|min|sup|inf)_")  # what TeX sets below in a display
_SHOWN = {
    "<mtable>": '<mtable displaystyle="true">',  # sums of a display are large in its rows, too
    "&#x000AF;": "&#x0203E;",  # a bar that can be told from a dot
}
FONT = Path(ziamath.__file__).parent / "fonts" / "STIXTwoMath-Regular.ttf"


def mathml(latex: str, display: str) -> str:
    """A formula of TeX as MathML, `display` being "inline" or "block".

    Raises:
        ValueError: It has a command that is not known, which would be shown as it stands.
    """
    if display == "block":
        latex = _UNDER.sub(r"\\\1\\limits_", latex)
    formula = convert(latex, display=display)
    if "\\" in formula:
        raise ValueError(f"a command of this formula is not known: {latex}")
    for as_made, as_shown in _SHOWN.items():
        formula = formula.replace(as_made, as_shown)
    return formula


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def _displayed(writer: HTML5Translator, node: nodes.math_block) -> None:
    formula = mathml(node.astext(), "block")
    writer.body.append(f'<div class="formula" tabindex="0">{formula}</div>\n')
    raise nodes.SkipNode


def _copy_font(app: Sphinx, _failure: Exception | None) -> None:
    folder = Path(app.outdir) / "_static"
    if folder.is_dir():
        shutil.copy(FONT, folder / FONT.name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer, which `html_math_renderer` names."""
    app.add_html_math_renderer("mathml", (_inline, None), (_displayed, None))
    app.connect("build-finished", _copy_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
