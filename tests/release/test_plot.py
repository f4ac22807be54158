"""The chart of a release: its scores, and how far their noise reaches."""

import math
import sys
from dataclasses import replace

import pytest

from helpers.charts import rows_of
from helpers.refusals import refusal
from helpers.releases import HOSTILE, release
from shortlist.release import Release, Scores


def test_every_score_has_an_interval_of_1_96_standard_deviations():
    rows = rows_of(release(["b", "a"]).plot())
    assert [row["label"] for row in rows] == ["1  \u2068b\u2069", "2  \u2068a\u2069"]
    assert [row["score"] for row in rows] == [100.0, 99.75]
    for row in rows:
        assert row["high"] - row["score"] == pytest.approx(1.96 * 4.88)
        assert row["score"] - row["low"] == pytest.approx(1.96 * 4.88)


def test_it_says_what_is_drawn_and_under_which_promise():
    title = release([f"{i}" for i in range(31)], private=False).plot().to_dict()["title"]
    assert title["text"] == "top-k: weight of each item"
    assert title["subtitle"] == [
        "Not private: the noise came from a seed.",
        "The first 30 of 31 items.",
        (
            "Bars: 1.96 standard deviations of the noise (95 % if it is normal). "
            "epsilon = 1, delta = 1e-06."
        ),
    ]


def test_items_that_look_the_same_when_cut_have_a_line_each():
    rows = rows_of(release([f"{'x' * 300}{i}" for i in range(5)]).plot())
    assert len({row["label"] for row in rows}) == 5
    assert max(len(row["label"]) for row in rows) < 60


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_it_is_saved_whatever_the_items_are(tmp_path, suffix):
    pictures = ["🎉" * 60, "👩\u200d👧" * 40, "ألف ليلة" * 20, "\U0001f600x" * 50]
    path = tmp_path / f"plot.{suffix}"
    release([*HOSTILE, *pictures]).plot().save(path)
    start = {"svg": b"<svg", "png": b"\x89PNG"}[suffix]
    assert path.read_bytes().startswith(start)
    if suffix == "svg":
        assert "<script>" not in path.read_text(encoding="utf-8")


def test_items_of_several_columns_are_one_line():
    rows = rows_of(release({"title": ["a", "b"], "year": [1999, 2001]}).plot())
    assert [row["label"] for row in rows] == ["1  \u2068a, 1999\u2069", "2  \u2068b, 2001\u2069"]


def test_nothing_to_draw_is_refused_with_what_to_do():
    said = refusal(lambda: release(["a"], scores=False).plot())
    assert said == (
        "this release has no scores, and so nothing to draw; for counts of the items ask with "
        "count_share=0.3; the list itself is in report()."
    )
    empty = refusal(lambda: release({"title": []}).plot())
    assert empty == "there is no item in this release, and so nothing to draw."
    assert "no scores" in refusal(lambda: _with_sd(math.inf).plot())


def _with_sd(sd):
    made = release(["a"])
    return Release(
        question=made.question,
        items=made.to_polars().select("title"),
        scores=Scores([1.0], unit="noisy weight", noise_sd=sd),
        guarantee=replace(made.guarantee),
        mechanism=made.mechanism,
    )


def test_a_plot_needs_altair(monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    assert 'run pip install "shortlist[plot]"' in refusal(release(["a"]).plot)
