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
FONT = Path(ziamath.__file__).parent / "fonts" / "STIXTwoMath-Regular.ttf"


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _displayed(writer: HTML5Translator, node: nodes.math_block) -> None:
    told = _UNDER.sub(r"\\\1\\limits_", node.astext())
    formula = convert(told, display="block").replace("<mtable>", '<mtable displaystyle="true">')
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
