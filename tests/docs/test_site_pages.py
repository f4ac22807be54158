"""The site as it was built by `make docs`: what it holds, and that nothing is lost on the way."""

import importlib
import re
import sys
import zlib
from pathlib import Path

import pytest

import shortlist as sl

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "site"
MODULES = [
    "shortlist",
    *(f"shortlist.{name}" for name in sl.__all__ if (ROOT / f"docs/reference/{name}.md").exists()),
]
sys.path.insert(0, str(ROOT / "docs" / "site"))
built = pytest.mark.skipif(not SITE.exists(), reason="make docs has not built the site")


@pytest.fixture(scope="module")
def notation():
    pytest.importorskip("sphinx", reason="make docs installs it")
    return importlib.import_module("site_notation")


@built
@pytest.mark.exhaustive
def test_every_public_name_is_in_the_reference():
    inventory = (SITE / "objects.inv").read_bytes()
    listed = zlib.decompress(inventory.split(b"zlib.\n", 1)[1]).decode().splitlines()
    names = {line.split()[0] for line in listed if " py:" in line}
    modules = [importlib.import_module(name) for name in MODULES]
    public = {f"{module.__name__}.{name}" for module in modules for name in module.__all__}
    assert public - names == set()
    assert set(MODULES[1:]) == {f"shortlist.{n}" for n in sl.__all__ if is_module(n)}


def is_module(name):
    return isinstance(getattr(sl, name), type(sys))


@built
@pytest.mark.exhaustive
def test_every_page_of_the_sources_is_a_page_of_the_site():
    sources = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/*.ipynb"), *ROOT.glob("bench/**/*.md")]
    assert len(sources) > 70
    for path in sources:
        assert (SITE / path.relative_to(ROOT)).with_suffix(".html").exists(), path


@built
@pytest.mark.exhaustive
def test_notebooks_stand_there_with_what_they_print():
    for name, shown in (("which-words", "slang0"), ("choosing-epsilon", "<svg")):
        page = (SITE / "docs" / f"{name}.html").read_text(encoding="utf-8")
        assert shown in page
        assert "cdn." not in page


def test_what_is_wrong_with_links_is_found(tmp_path):
    check = importlib.import_module("check_links")
    head = '<link rel="canonical" href="https://example.org/"><h1 id="here">'
    (tmp_path / "good.html").write_text(f'{head}<a href="#here">a</a><a href="https://b.org">b</a>')
    assert list(check.problems(tmp_path)) == []
    (tmp_path / "bad.html").write_text(
        '<script src="https://cdn.org/x.js"></script><img src="//cdn.org/y.png">'
        '<a href="gone.html">c</a><a href="good.html#nowhere">d</a><a href="good.html#here">e</a>'
    )
    found = [problem.split(": ", 1)[1] for problem in check.problems(tmp_path)]
    assert found == [
        "https://cdn.org/x.js is loaded from elsewhere",
        "//cdn.org/y.png is loaded from elsewhere",
        "gone.html leads to no file",
        "good.html#nowhere leads to no such place",
    ]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("written", "latex"),
    [
        ("x_u,r(i)", "x_{u,r}"),
        ("e^-ε_t", "e^{-ε_{t}}"),
        ("q^L(S)", "q^{L(S)}"),
        ("N_(r)", "N_{(r)}"),
        ("e^(ε-ε₁)", "e^{ε-ε_{1}}"),
        ("P'_y^α", "P'_{y}^{α}"),
        ("x̄_r", r"\bar{x}_{r}"),
        ("c_max", r"c_{\mathrm{max}}"),
        ("σ²", "σ^{2}"),
        ("2^-52", "2^{-52}"),
        ("Σ_{j<i}", r"\sum_{j<i}"),
        ("Σ^-½", r"Σ^{-\tfrac12 }"),
        ("max_y", r"\max_{y}"),
    ],
)
def test_formulas_in_lines_are_read_as_they_are_meant(notation, written, latex):
    assert next(told for _, told in notation.tokens(written)) == latex


@pytest.mark.exhaustive
def test_words_are_no_formulas(notation):
    for words in ("a user", "A mechanism", "Theorem C.2", "Rényi", "v's", "`x_u`"[1:3]):
        plain = [piece for piece, told in notation.tokens(words) if told is None]
        assert "".join(plain).strip() in {words, "'s", "_u"} or words == "x_"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs" / "proofs").glob("*.md")), ids=lambda p: p.stem
)
def test_no_letter_of_a_proof_is_lost(notation, path):
    text = re.sub(r"`[^`]*`", "", path.read_text(encoding="utf-8"))
    pieces = list(notation.tokens(text))
    assert "".join(piece for piece, _ in pieces) == text
    for piece, told in pieces:
        if told is not None:
            assert letters(plain(told)) == letters(piece), piece


@pytest.mark.exhaustive
def test_a_formula_with_an_unknown_command_stops_the_site():
    pytest.importorskip("ziamath", reason="make docs installs it")
    mathml = importlib.import_module("site_mathematics").mathml
    assert "<munder>" in mathml(r"\max_x f(x)", "block")
    with pytest.raises(ValueError, match="not known"):
        mathml(r"\bigl\{ x \bigr\}", "inline")


def plain(latex):
    """LaTeX without its words: accents, operators, upright letters."""
    named = {r"\sum": "Σ", r"\prod": "Π", r"\bigcup": "∪", r"\cdot ": "·", r"\tfrac12 ": "½"}
    for word, sign in {**named, r"\ldots ": "…"}.items():
        latex = latex.replace(word, sign)
    latex = latex.replace(r"\max", "max").replace(r"\min", "min")
    return re.sub(r"\\(?:mathrm|hat|tilde|bar)", "", latex)


def letters(text):
    """What is read of a formula, in its order: indices and exponents as figures like all others."""
    text = re.sub("[\u0302-\u0304_^{}() \n]", "", text)
    return text.translate(str.maketrans("₀₁₂₃₄₅₆₇₈₉²³", "012345678923"))
