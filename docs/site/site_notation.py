"""The notation of the proof notes, set as mathematics: `x_u,r(i)` with its indices below the line.

The notes write formulas in their lines as one would in a letter: indices after `_` and exponents
after `^`, in brackets where they are longer. Only what stands that way, and single letters, is set;
every character of the note but these marks is there again.
"""

import re
from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

PAGES = ("docs/proofs/", "docs/bounds")
_GREEK = "Α-ωϕ"
_ANY = f"[A-Za-zÀ-ɏ{_GREEK}]"
_DIGITS = "₀₁₂₃₄₅₆₇₈₉"
_LETTER = rf"[A-Za-z{_GREEK}ℓÑ][\u0302-\u0304]?(?:'(?![a-z]))?"
_BRACKETED = r"\{[^{}]*\}|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_WORD = rf"[A-Za-z{_GREEK}0-9∞][A-Za-z{_GREEK}0-9₀-₉]*"
_SUB = rf"_(?:{_BRACKETED}|{_WORD}(?:,(?:{_WORD}|{{[^{{}}]*}}))*(?=\()|{_WORD})"
_SUP = rf"[²³]|\^(?:{_BRACKETED}|-?(?:{_WORD}(?:_{_WORD})?|½)(?:\([^()]*\)|'(?![a-z]))?)"
_BASE = (
    r"(?<!\w)(?:max|min|row|loss)(?=_)|[ΣΠ∪](?=_)"
    r"|(?<!\w)(?:MM|[a-z][A-Z])(?=[_^])"  # of a product, the last factor
    r"|(?<![\w.])\d+(?=[_^])|(?<=[)}])(?=\^)"
    rf"|(?<![A-Za-z_])(?=[A-Za-z]){_LETTER}[{_DIGITS}]*|(?![A-Za-z]){_LETTER}[{_DIGITS}]*"
)
_TOKEN = re.compile(rf"(?P<base>{_BASE})(?P<scripts>(?:{_SUB}|{_SUP})*)")
_SCRIPT = re.compile(rf"{_SUB}|{_SUP}")
_LARGE = {"Σ": r"\sum", "Π": r"\prod", "∪": r"\bigcup", "max": r"\max", "min": r"\min"}
_WORDS = {word: rf"\mathrm{{{word}}}" for word in ("row", "loss", "MM")}
_ACCENTS = {"\u0302": r"\hat", "\u0303": r"\tilde", "\u0304": r"\bar"}
_SIGNS = {"·": r"\cdot ", "½": r"\tfrac12 ", "…": r"\ldots "}
_OPERATORS = "=<>≤≥+-·/²³^_|√∈∪∩Σ∞×½⁻"
_LONGEST = 30  # characters that are kept on one line


def tokens(text: str) -> Iterator[tuple[str, str | None]]:
    """The text in pieces; beside each that is mathematics, its LaTeX."""
    done = 0
    for found in _TOKEN.finditer(text):
        if not (found["scripts"] or _is_variable(text, found)):
            continue
        if found.start() > done:
            yield text[done : found.start()], None
        yield found[0], latex(found["base"], found["scripts"])
        done = found.end()
    if done < len(text):
        yield text[done:], None


def _is_variable(text: str, found: re.Match[str]) -> bool:
    """Whether a letter without indices is one, not a part of a word, a label or an article."""
    before, after = text[: found.start()], text[found.end() :]
    letters = re.search(f"{_ANY}*$", before)[0] + re.match(f"{_ANY}*", after)[0]
    if letters and not _is_product(letters + found[0]):
        return False
    if re.match(r"[\d_]|\.\d|['’][a-z]", after) or re.search(r"\w['’]$|\d\.$|_$", before):
        return False
    if found[0] in {"a", "A", "I"}:
        beside = before.rstrip()[-1:] + after.lstrip()[:1]
        return after.startswith("(") or any(sign in _OPERATORS for sign in beside)
    return True


def _is_product(letters: str) -> bool:
    """Whether letters that stand together, as in kε, are variables each."""
    return len(letters) <= 3 and re.search(f"[{_GREEK}]", letters) is not None


def latex(base: str, scripts: str) -> str:
    """A base with its indices and exponents, as LaTeX."""
    told = _LARGE.get(base) if scripts.startswith("_") else None
    told = told or _WORDS.get(base) or _letters(base) or "{}"
    for script in _SCRIPT.findall(scripts + "("):  # a list of indices ends at a bracket
        if script in "²³":
            told += f"^{{{'²³'.index(script) + 2}}}"
            continue
        sign, inner = script[0], script[1:]
        if inner[0] == "{" or (sign == "^" and inner[0] == "("):
            inner = inner[1:-1]
        told += f"{sign}{{{_inside(inner)}}}"
    return told


def _letters(base: str) -> str:
    told = ""
    for sign in base:
        if sign in _ACCENTS:
            told = f"{told[:-1]}{_ACCENTS[sign]}{{{told[-1]}}}"
        elif sign in _DIGITS:
            told += f"_{{{_DIGITS.index(sign)}}}"
        else:
            told += sign
    return told


def _inside(script: str) -> str:
    """What stands in an index or an exponent; words of three letters stand upright."""
    told = ""
    for piece, mathematics in tokens(script):
        plain = re.sub(r"[A-Za-z]{3,}", lambda word: rf"\mathrm{{{word[0]}}}", piece)
        plain = re.sub(rf"[{_DIGITS}]", lambda digit: f"_{{{_DIGITS.index(digit[0])}}}", plain)
        told += mathematics or "".join(_SIGNS.get(sign, sign) for sign in plain)
    return told


def set_text(text: str) -> Iterator[nodes.Node]:
    """The nodes of a text; no line is broken between a formula and what touches it."""
    together: list[nodes.Node] = []
    for piece, mathematics in tokens(text):
        if mathematics is not None:
            together.append(nodes.math(piece, mathematics))
            continue
        for part in re.split(r"(\s+)", piece):
            if part.isspace():
                yield from _kept(together)
                yield nodes.Text(part)
                together = []
            elif part:
                together.append(nodes.Text(part))
    yield from _kept(together)


def _kept(together: list[nodes.Node]) -> list[nodes.Node]:
    """Nodes without a space between them, on one line if they are short."""
    short = sum(len(node.astext()) for node in together) <= _LONGEST
    if len(together) < 2 or not short:
        return together
    return [nodes.inline("", "", *together, classes=["together"])]


class Notation(SphinxTransform):
    """Sets the lines of proof notes, before straight quotes become curly ones."""

    default_priority = 200

    def apply(self) -> None:
        """Replace each text that is neither code nor a heading."""
        if not self.env.docname.startswith(PAGES):
            return
        untouched = (nodes.literal, nodes.literal_block, nodes.title, nodes.math_block)
        for text in list(self.document.findall(nodes.Text)):
            if not _is_within(text, *untouched):
                text.parent.replace(text, list(set_text(text.astext())))


def _is_within(node: nodes.Node, *kinds: type[nodes.Node]) -> bool:
    while (node := node.parent) is not None:
        if isinstance(node, kinds):
            return True
    return False


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(Notation)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
