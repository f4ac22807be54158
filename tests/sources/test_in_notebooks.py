"""What a notebook shows of a source: names and types of columns, and never a row."""

import polars as pl
import pytest

import shortlist as sl
from helpers.refusals import MARKER
from shortlist.engines import Engine

HOSTILE = '<b onclick="x">\x1b[31m'


@pytest.fixture(autouse=True)
def _nothing_is_read(monkeypatch):
    """Whatever is shown is shown without a look at the rows."""
    for kind in Engine.__subclasses__():
        monkeypatch.setattr(kind, "show", None)


def rows(n):
    frame = {HOSTILE: [f"{MARKER} {i}" for i in range(n)], "title": [MARKER] * n}
    return pl.DataFrame(frame).with_columns(day=pl.lit(None, pl.Date))


def sources(n):
    counts = pl.DataFrame({"title": [f"{MARKER}{i}" for i in range(n)], "readers": [7919] * n})
    games = pl.DataFrame({"won": [MARKER] * n, "lost": ["b"] * n})
    return [
        sl.pairs(rows(n), user=HOSTILE, item=["title", "day"], max_items_per_user=7),
        sl.counts(counts, item="title", count="readers", max_items_per_user=7),
        sl.comparisons(games, winner="won", loser="lost", public_items=sl.IN_TABLE),
    ]


def test_columns_and_promises_are_shown():
    pairs, counts, games = (source._repr_html_() for source in sources(3))
    assert '<td dir="auto" style="text-align: left">day</td>' in pairs
    assert '<td dir="auto" style="text-align: left">Date</td>' in pairs
    assert "<b>bounds</b> max_items_per_user=7" in pairs
    assert "<b>protects</b> all rows of any one" in pairs
    assert ">readers</td>" in counts
    assert ">lost</td>" in games
    assert "<b>bounds</b> none" in games


def test_no_row_and_no_number_of_rows_is():
    for few, many in zip(sources(3), sources(4), strict=True):
        assert MARKER not in few._repr_html_()
        assert few._repr_html_() == many._repr_html_()


def test_the_name_of_a_column_is_text():
    shown = sources(1)[0]._repr_html_()
    assert "<b onclick" not in shown
    assert "&lt;b onclick=&quot;x&quot;&gt;\\x1b[31m" in shown


def test_whether_questions_are_charged():
    class Purse:
        def charge(self, plan):
            """Take note of nothing."""

    frame = {"user": [1], "title": ["a"]}
    free = sl.pairs(frame, user="user", item="title")
    charged = sl.pairs(frame, user="user", item="title", budget=Purse())
    assert "<b>budget</b> none" in free._repr_html_()
    assert "<b>budget</b> charged before a row is read" in charged._repr_html_()


def test_a_store_has_its_kind_and_no_columns():
    store = sl.store(sl.stores.MemoryStore(["a", "b"], [5, 3]))
    assert "<table>" not in store._repr_html_()
    assert "MemoryStore" in store._repr_html_()


def test_a_plan_is_shown_with_its_price_and_what_would_happen():
    plan = sources(3)[0].plan(sl.Domain(), epsilon=1.0, delta=1e-6)
    shown = plan._repr_html_()
    assert "domain by GreedyOrRounds: a plan" in shown
    assert "<p>To be named, an item needs about" in shown
    assert "nothing is spent until it is run" in shown
    assert "<b onclick" not in shown
    assert MARKER not in shown
