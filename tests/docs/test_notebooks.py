"""The tutorials in notebooks, run from the first cell to the last, as a notebook does."""

import ast
import json
from pathlib import Path

import pytest

import shortlist as sl

DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOKS = sorted(DOCS.glob("*.ipynb"))


def cells(path):
    """The code of each cell."""
    told = json.loads(path.read_text(encoding="utf-8"))
    assert (told["nbformat"], told["nbformat_minor"]) == (4, 5)
    return ["".join(cell["source"]) for cell in told["cells"] if cell["cell_type"] == "code"]


def run(code, names):
    """Run a cell; the value of its last expression, if it ends with one."""
    parsed = ast.parse(code)
    last = parsed.body.pop() if isinstance(parsed.body[-1], ast.Expr) else None
    exec(compile(parsed, "cell", "exec"), names)  # noqa: S102 - our own notebook
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307


def shown(value):
    """What a notebook would show of it."""
    if hasattr(value, "_repr_html_"):
        return value._repr_html_()
    return str(value.to_dict() if hasattr(value, "to_dict") else value)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs_and_shows_something(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in cells(path):
        value = run(code, names)
        assert value is None or shown(value)


def test_the_words_come_out_and_no_password(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in cells(DOCS / "which-words.ipynb"):
        last = run(code, names)
    assert last is True
    page = Path("words.html").read_text(encoding="utf-8")
    assert "password" not in page
    assert "the" in sl.load("words.json")


def test_there_are_two_without_output():
    assert [path.stem for path in NOTEBOOKS] == ["choosing-epsilon", "which-words"]
    for path in NOTEBOOKS:
        assert all(not c.get("outputs") for c in json.loads(path.read_text())["cells"])
