"""The chart of a release: its scores, and how far their noise reaches."""

import io
import math
import sys

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.charts import rows_of
from helpers.refusals import refusal
from helpers.releases import HOSTILE, release
from shortlist.bits import SeededBits
from shortlist.mechanisms import WeightedGaussian
from shortlist.release import Scores
from shortlist.release._score_intervals import chart_of, reach


def test_every_score_has_an_interval_of_1_96_standard_deviations():
    rows = rows_of(release(["b", "a"]).plot())
    assert [row["label"] for row in rows] == ["1  \u2068b\u2069", "2  \u2068a\u2069"]
    assert [row["score"] for row in rows] == [100.0, 99.75]
    for row in rows:
        assert row["high"] - row["score"] == pytest.approx(1.96 * 4.88)
        assert row["score"] - row["low"] == pytest.approx(1.96 * 4.88)


def test_it_says_what_is_drawn_and_under_which_promise():
    title = release([f"{i}" for i in range(31)], private=False).plot().to_dict()["title"]
    assert title["text"] == ["top-k: weight of each item"]
    assert title["subtitle"] == [
        "Not private: the noise came from a seed.",
        "The first 30 of 31 items.",
        "Bars reach 1.96 standard deviations of the noise to either side.",
        "Epsilon = 1, delta = 1e-06.",
    ]


@pytest.mark.parametrize("letter", "wWÄ日")
def test_labels_of_groups_show_the_item_and_stick_out_nowhere(letter):
    vl_convert = pytest.importorskip("vl_convert")
    image = pytest.importorskip("PIL.Image")
    items = {"country": [letter * 60] * 3, "title": [f"{i}{letter * 60}" for i in range(3)]}
    grouped = release(items, by=("country",))
    for width in (326, 720):
        chart = chart_of(grouped, width=width)
        for place, row in enumerate(rows_of(chart)):
            assert f", {place}" in row["label"]
        drawn = image.open(io.BytesIO(vl_convert.vegalite_to_png(chart.to_dict())))
        edges = [drawn.crop((x, 0, x + 4, drawn.height)) for x in (0, drawn.width - 4)]
        assert all(np.asarray(edge.convert("L")).min() == 255 for edge in edges)


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
        "noisy_counts=True; the list itself is in report()."
    )
    empty = refusal(lambda: release({"title": []}).plot())
    assert empty == "there is no item in this release, and so nothing to draw."
    endless = Scores([1.0], unit="noisy weight", noise_sd=math.inf)
    assert "no scores" in refusal(release(["a"], scores=endless).plot)


def test_a_plot_needs_altair(monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    assert 'run pip install "shortlist[plot]"' in refusal(release(["a"]).plot)


def coverage(answer, truth, wrong=1.0):
    """The share of items whose interval holds the value without noise, if it were so much wider."""
    far = reach(answer) * wrong
    held = [
        abs(score - truth[item]) <= far
        for item, score in zip(answer.items, answer.scores, strict=True)
    ]
    return sum(held) / len(held)


def test_an_interval_holds_the_value_without_noise_as_often_as_it_says():
    """All items are far above the threshold, so that none is left out for its noise."""
    truth = {f"item {i}": 200 + i % 7 for i in range(600)}
    held = [item for item, n in truth.items() for _ in range(n)]
    rows = pl.DataFrame({"user": range(len(held)), "title": held})
    source = sl.pairs(rows, user="user", item="title", max_items_per_user=1)
    options = {"epsilon": 1.0, "delta": 1e-6, "mechanism": WeightedGaussian}
    answer = source.domain(**options, random=SeededBits(5))
    assert len(answer) == 600
    spread = math.sqrt(0.95 * 0.05 / 600)
    assert abs(coverage(answer, truth) - 0.95) < 4 * spread
    assert abs(coverage(answer, truth, wrong=0.7) - 0.95) > 4 * spread
