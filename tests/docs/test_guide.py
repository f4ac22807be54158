"""The first pages of the guide, done as they say, and what the concepts say in numbers."""

import importlib.util
import math
import re
import shlex
import sys
from pathlib import Path

import pytest

import shortlist as sl
from shortlist import cli

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ["first-list", "private-or-public", "histograms", "scores", "association", "recipes"]
NOISY = re.compile(r"^ +\d+   .*$", re.MULTILINE)  # a row of an answer


def blocks(page):
    text = (DOCS / f"{page}.md").read_text()
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def printed_by(command, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", shlex.split(command.replace("\\\n", "")))
    assert cli.exit_status() == 0
    return capsys.readouterr().out


@pytest.fixture
def done(tmp_path, monkeypatch, capsys):
    """Do a page from top to bottom; what each command printed, and the names that were made."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def do(page):
        names, printed = {}, []
        for language, text in blocks(page):
            if language == "python":
                exec(text, names)  # noqa: S102 - our own page
            elif language == "sh" and not text.startswith("pip install"):
                printed.append(printed_by(text, monkeypatch, capsys))
            else:
                assert language in {"sh", "text"}
        return printed, names

    return do


def test_a_first_list_prints_what_is_shown(done):
    printed, names = done("first-list")
    shown = [text for language, text in blocks("first-list") if language == "text"]
    assert [NOISY.sub("", text) for text in printed] == [NOISY.sub("", text) for text in shown]
    titles = [re.findall(r"^ +\d   (\w+)", text, re.MULTILINE) for text in (printed[1], shown[1])]
    assert titles[1] == ["Emma", "Ulysses", "Dune", "Beloved", "Solaris"]
    assert set(titles[0]) == set(titles[1])  # in 2 of 100 runs, their order is another
    assert len(names["release"]) == 3
    assert Path("top.html").exists()


def test_private_items_are_left_out_and_public_ones_are_listed(done):
    (private, public, *_), names = done("private-or-public")
    first, second = (names["sl"].load(f"{week}.json") for week in ("first", "second"))
    assert len(first) == len(second) == 6
    assert "the list of 6 known items was public before" in second.guarantee.assumes
    assert "only one user speaks" not in private
    assert "delta=1e-06" in private
    assert "delta=0" in public
    assert "only one user speaks" not in public


def test_a_histogram_takes_your_word(done):
    printed, names = done("histograms")
    assert all(text.startswith("top-k: 3 items") for text in printed)
    assert any("10" in promise for promise in names["release"].guarantee.assumes)


def test_scores_take_your_word_too(done):
    (printed,), names = done("scores")
    assert printed.startswith("top-scores: 3 items")
    assert re.search(r"\d +Emma$", printed, re.MULTILINE)
    told = names["release"].to_polars()
    assert told["title"].to_list() == ["Emma", "Ulysses", "Dune"]
    assert {"score", "score_low", "score_high"} <= set(told.columns)


def test_what_goes_with_a_label_is_found(done):
    (printed,), names = done("association")
    assert re.match(r"\d discover(y|ies)\n", printed)
    related = {f"drug {number}" for number in range(1, 6)}
    assert related & set(names["release"].items)
    table = names["release"].to_polars()
    assert table.height == 10
    assert table["named"].sum() == len(names["release"])


def test_the_recipes_do_what_they_say(done):
    (rows, days, counts, spent, chosen), names = done("recipes")
    assert "where country = 'NO' AND minutes >= 30" in " ".join(rows.split())
    assert "as of 2026-11-07" in days
    assert re.search(r"^Emma +\d", counts, re.MULTILINE)
    assert re.search(r"^Solaris +-?\d", counts, re.MULTILINE)
    assert 'by sums of "minutes", capped at 120 per user and item' in " ".join(spent.split())
    assert "capped at 15, 60 or 240 (chosen privately)" in " ".join(chosen.split())
    assert set(names["kept"].items) <= set(names["titles"]) - {"Beloved"}  # 900 to 300 users
    assert set(names["words"].columns) == {"user", "word"}
    assert set(names["pairs"].rows()) >= {(0, "slow", "but"), (1, "good", "and")}


def test_the_figures_of_the_concepts():
    page = " ".join((DOCS / "concepts.md").read_text().split())
    for epsilon in (0.1, 1, 3):
        share = math.ceil(1000 / (1 + math.exp(-epsilon))) / 10
        assert f"{share} % at {epsilon}" in page
    spec = importlib.util.spec_from_file_location("draw", DOCS / "pictures" / "draw.py")
    draw = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(draw)
    assert draw.chance_of_being_named(1) <= draw.DELTA
    assert 0.1 < draw.chance_of_being_named(20) < 0.5  # "about twenty can be too few"
    assert draw.chance_of_being_named(60) > 0.9999  # "almost surely"
    assert f"threshold of {draw.MECHANISM.threshold:.0f}" in page
    assert isinstance(draw.MECHANISM, sl.mechanisms.WeightedGaussian)


def test_the_pictures_are_those_that_the_script_draws(tmp_path, monkeypatch):
    pytest.importorskip("vl_convert")
    spec = importlib.util.spec_from_file_location("draw", DOCS / "pictures" / "draw.py")
    draw = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(draw)
    monkeypatch.setattr(draw, "HERE", tmp_path)
    draw.main()
    for path in sorted(tmp_path.iterdir()):
        kept = (DOCS / "pictures" / path.name).read_text()
        assert words(path.read_text()) == words(kept), path.name


def words(svg):
    """The letters of a picture; where they stand hangs on the version of what drew it."""
    return re.findall(r"<text[^>]*>([^<]*)<", svg)
