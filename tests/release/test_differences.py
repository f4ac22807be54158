"""Two lists compared: what is new, gone and moved, and which moves are more than noise."""

import json
import random
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.charts import rows_of
from helpers.refusals import refusal
from helpers.releases import GUARANTEE, HOSTILE, Example, counted, release
from shortlist.bits import SeededBits
from shortlist.release import About, Scores
from shortlist.release._possible_ranks import spread_of_noise
from shortlist.release.differences import keys
from shortlist.release.noisy_scores import REACHED

SD = 4.88


def listed(counts, *, sd=SD, **more):
    """A list of items with these noisy counts, best first."""
    items = sorted(counts, key=counts.get, reverse=True)
    scores = Scores([counts[item] for item in items], unit="noisy count", noise_sd=sd)
    return counted(items, scores=scores, **more)


def changes(found):
    return {one.key[-1]: (one.change, one.beyond_noise) for one in found.changes}


def test_new_gone_and_moved():
    found = sl.diff(release(["a", "b", "c", "d"]), release(["b", "a", "e", "d"]))
    assert (found.new, found.gone, found.moved) == (["e"], ["c"], ["b", "a"])
    assert changes(found) == {
        "b": ("up", None), "a": ("down", None), "e": ("new", None), "d": ("same", None),
        "c": ("gone", None),
    }  # fmt: skip
    assert found.beyond_noise == []
    assert [one.rank_before for one in found.changes] == [2, 1, None, 4, 3]


def test_a_move_farther_than_the_noise_is_told_from_one_that_may_be_noise():
    last = listed({"a": 900, "b": 700, "c": 500, "d": 490})
    this = listed({"a": 600, "b": 700, "c": 490, "d": 500})
    found = sl.diff(last, this)
    assert changes(found) == {
        "b": ("up", True), "a": ("down", True), "d": ("up", False), "c": ("down", False)
    }  # fmt: skip
    assert found.unjudged == ""


def test_what_moved_since_others_came_is_not_moved_by_more_than_noise():
    last = listed({"a": 900, "b": 700, "c": 500})
    this = listed({"new": 2000, "a": 900, "b": 700})
    assert changes(sl.diff(last, this)) == {
        "new": ("new", None), "a": ("down", False), "b": ("down", False), "c": ("gone", None)
    }  # fmt: skip


def test_a_move_is_certain_only_in_the_direction_in_which_it_is_shown():
    """Among the items of both lists b rose, but two new ones stand before it."""
    last = listed({"a": 900, "b": 700, "c": 500})
    this = listed({"x": 3000, "y": 2000, "b": 900, "a": 600, "c": 500})
    found = changes(sl.diff(last, this))
    assert found["b"] == ("down", False)
    assert found["a"] == ("down", True)


# How often it is wrong


def noisy(counts, rng, scale=1.0):
    return {item: round(n + rng.normal(0, SD * scale)) for item, n in counts.items()}


def chance_of_a_wrong_move(scale, runs=2000):
    """How often a move is called more than noise where ranks in the second list are tied."""
    rng, wrong = np.random.default_rng(11), 0
    before, now = {"a": 1000, "b": 500}, {"a": 500, "b": 500}
    for _ in range(runs):
        found = sl.diff(listed(noisy(before, rng)), listed(noisy(now, rng, scale)))
        wrong += bool(found.beyond_noise)
    return wrong / runs


def test_moves_that_are_none_are_called_so_as_rarely_as_follows_from_the_noise():
    """Two tied items seem apart, in the wrong order, with half of what one list may be wrong."""
    error = np.sqrt(0.0125 / 2000)
    assert chance_of_a_wrong_move(1.0) <= 0.0125 + 3 * error
    assert chance_of_a_wrong_move(1.3) > 0.0125 + 6 * error  # noise that is not the stated one


def best_first(counts):
    return grouped(dict(sorted(counts.items(), key=lambda one: (one[0][0], -one[1]))))


def chance_of_a_wrong_move_in_any_group(runs=1000):
    """As above, in one of twenty groups."""
    rng, wrong = np.random.default_rng(19), 0
    before = {(g, title): n for g in range(20) for title, n in (("a", 1000), ("b", 500))}
    now = dict.fromkeys(before, 500)
    for _ in range(runs):
        found = sl.diff(best_first(noisy(before, rng)), best_first(noisy(now, rng)))
        wrong += bool(found.beyond_noise)
    return wrong / runs


def test_moves_in_many_groups_are_wrong_together_as_rarely_as_in_one():
    error = np.sqrt(0.0125 / 1000)
    assert 0 < chance_of_a_wrong_move_in_any_group() <= 0.0125 + 3 * error


def test_what_each_group_alone_needs_is_too_little_for_the_moves_of_all(monkeypatch):
    """The planted mistake: half of 5 % for each group of each list."""
    monkeypatch.setattr("shortlist.release.differences.often_in_each", lambda _: 0.975)
    assert chance_of_a_wrong_move_in_any_group(300) > 0.06


@pytest.mark.parametrize("law", ["Normal", "Laplace"])
@pytest.mark.parametrize("n", [2, 20])
def test_the_spread_of_noise_is_that_of_either_list(law, n):
    rng = np.random.default_rng(5)
    draws = (
        rng.normal(size=(40_000, n)) if law == "Normal" else rng.laplace(0, 0.5**0.5, (40_000, n))
    )
    beyond = np.mean(np.ptp(draws, axis=1) > spread_of_noise(n, law, 0.975))
    assert 0.025 - 3 * 0.00078 - 0.0005 <= beyond <= 0.025 + 3 * 0.00078


def test_of_all_moves_none_is_wrong_in_95_of_100_cases():
    """Tables that change: true ranks among the items of both lists are known."""
    rng, wrong, right = np.random.default_rng(7), 0, 0
    for _ in range(400):
        before = {f"item {i:02d}": int(1200 / (i + 1) ** 0.5) for i in range(20)}
        now = {item: int(n * rng.uniform(0.9, 1.1)) for item, n in before.items()}
        found = sl.diff(listed(noisy(before, rng)), listed(noisy(now, rng)))
        called = {one.key[0]: one.change for one in found.changes if one.beyond_noise}
        true = {item: moved(item, before, now) for item in called}
        wrong += called != true
        right += len(called)
    assert wrong <= 0.05 * 400
    assert right > 100


def moved(item, before, now):
    """Whether its possible true ranks, where others are tied with it, are apart."""
    (best, worst), (least, most) = (true_ranks(item, counts) for counts in (before, now))
    return "down" if worst < least else "up" if most < best else "same"


def true_ranks(item, counts):
    others = [n for other, n in counts.items() if other != item]
    return 1 + sum(n > counts[item] for n in others), 1 + sum(n >= counts[item] for n in others)


def test_items_that_the_first_list_chose_are_judged_as_rarely_wrong():
    """The second question names the two of twenty tied items whose noise lay farthest apart."""
    rng, wrong = np.random.default_rng(13), 0
    tied = {f"item {i:02d}": 500 for i in range(20)}
    for _ in range(1000):
        last = noisy(tied, rng)
        first, *_, second = sorted(last, key=last.get)
        this = noisy({first: 2000, second: 1000}, rng)
        wrong += bool(sl.diff(listed(last), listed(this)).beyond_noise)
    assert wrong <= 1000 * 0.025 + 3 * (1000 * 0.025) ** 0.5


def test_lists_as_they_are_made_of_an_unchanged_table_have_not_moved():
    held = pl.DataFrame(
        {"item": [f"item {i}" for i in range(12)], "n": [400 - i for i in range(12)]}
    )
    source = sl.counts(held, item="item", count="n", public_items=sl.IN_TABLE)
    plan = source.plan(sl.TopK(12, noisy_counts=True), epsilon=1.0)
    releases = [plan.run(SeededBits(seed)) for seed in range(100)]
    pairs = zip(releases[::2], releases[1::2], strict=True)
    found = [sl.diff(a, b) for a, b in pairs]
    assert not any(one.unjudged for one in found)
    assert sum(bool(one.moved) for one in found) > 45
    assert sum(bool(one.beyond_noise) for one in found) <= 5


# Where ranks cannot be judged


@pytest.mark.parametrize(
    ("last", "this", "said"),
    [
        (release(["a"]), release(["a"]), "neither list has counts of users"),
        (release(["a"], scores=False), listed({"a": 5}), "the earlier list does not have"),
        (listed({"a": 5}), release(["a"]), "the later list does not have"),
        (counted(["a"], unit="noisy clipped count"), listed({"a": 5}), "since clipped counts may"),
    ],
)
def test_it_is_said_where_ranks_cannot_be_judged(last, this, said):
    found = sl.diff(last, this)
    assert said in found.unjudged
    assert "more than noise" not in str(found).split("cannot be judged")[0]
    assert "Ranks cannot be judged" in str(found)
    assert found.to_polars()["beyond_noise"].to_list() == [None]


@pytest.mark.parametrize(
    ("question", "unit", "said"),
    [
        ("hitting-set", REACHED, "says how many users hold an item and none above it"),
        ("domain", "noisy clipped count", "clipped counts may lie below"),
        ("domain", "noisy weight", "a domain has no other counts than clipped ones"),
        ("rank", "noisy number of wins", "numbers of wins"),
        ("top-k", "noisy clipped count", "clipped counts may lie below"),
    ],
)
def test_noisy_counts_are_not_advised_where_they_would_not_help(question, unit, said):
    one = counted(["a"], unit=unit, question=question)
    told = " ".join(str(sl.diff(one, one)).split())
    assert said in told
    assert "ask both with noisy counts" not in told
    plain = release(["a"])
    assert "; ask both with noisy counts." in " ".join(str(sl.diff(plain, plain)).split())


# Kinds of lists


def grouped(counts):
    frame = {"country": [], "title": []}
    for country, title in counts:
        frame["country"].append(country)
        frame["title"].append(title)
    scores = Scores(list(counts.values()), unit="noisy count", noise_sd=SD)
    return counted(frame, scores=scores, by=("country",))


def test_in_groups_each_item_moves_within_its_own():
    last = grouped({("A", "x"): 900, ("A", "y"): 500, ("B", "y"): 90, ("B", "x"): 80})
    this = grouped({("A", "y"): 900, ("A", "x"): 500, ("B", "x"): 90, ("B", "z"): 85})
    found = sl.diff(last, this)
    assert [(one.key, one.change, one.beyond_noise) for one in found.changes] == [
        (("A", "y"), "up", True), (("A", "x"), "down", True), (("B", "x"), "up", False),
        (("B", "z"), "new", None), (("B", "y"), "gone", None),
    ]  # fmt: skip
    assert found.to_polars().columns[:4] == ["country", "rank", "rank_before", "title"]
    refusal(found.plot, "these are in groups", "compare one group")
    assert sl.diff(last.group("A"), this.group("A")).moved == ["y", "x"]


def test_empty_lists():
    none = release({"title": pl.Series([], dtype=pl.String)}, scores=False)
    some = release(["a"], scores=False)
    assert (sl.diff(none, some).new, sl.diff(some, none).gone) == (["a"], ["a"])
    nothing = sl.diff(none, none)
    assert (len(nothing.to_polars()), str(nothing).splitlines()[0]) == (
        0, "top-k: 0 new, 0 gone, 0 moved"
    )  # fmt: skip
    refusal(nothing.plot, "both lists are empty")


@pytest.mark.parametrize("question", ["domain", "hitting-set", "rank"])
def test_other_questions(question):
    found = sl.diff(release(["a", "b"], question=question), release(["b", "c"], question=question))
    assert (found.new, found.gone, found.moved) == (["c"], ["a"], ["b"])
    assert str(found).startswith(f"{question}: 1 new, 1 gone, 1 moved")


def of_series(items, question="series", k=None):
    return release(items, question=question, k=k)


def in_every_form(found, path):
    """What the terminal, Markdown, the report's page and JSON say, each in one line."""
    found.now.report(path, since=found.before)
    shown = str(found), found.to_markdown(), path.read_text(), found.to_dict()["new_or_gone"]
    return [" ".join(text.split()) for text in shown]


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (of_series(["a"]), of_series(["b", "a"]), "so that none is gone. A new item was named"),
        (of_series(["b", "a"]), of_series(["a"]), "Some are gone here, so that the list that is"),
        (of_series(["a"], k=1), of_series(["b"], k=1), "near their end, items come and go"),
        (
            of_series(["a"], question="period"),
            of_series(["b"], question="period"),
            "near the end of a list, items come and go",
        ),
    ],
    ids=["so far", "the wrong way round", "the first k", "of a period"],
)
def test_lists_so_far_only_grow(before, now, said, tmp_path):
    """As the proof note has it, no item that was named leaves. One of the first k may."""
    forms = in_every_form(sl.diff(before, now), tmp_path / "page.html")
    assert [said in form for form in forms] == [True] * len(forms)
    come_and_go = [form for form in forms if "items come and go" in form]
    assert len(come_and_go) == (len(forms) if "come and go" in said else 0)


SAVED = sorted((Path(__file__).parents[1] / "saved").rglob("*.json"))


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_what_was_saved_before_is_compared(path):
    found = sl.diff(sl.load(path), sl.load(path))
    assert (found.new, found.gone, found.moved, found.beyond_noise) == ([], [], [], [])
    assert json.loads(found.to_json())["items"]


# Refusals


def of(dataset):
    return release(["a"], about=About.of_data(dataset, None))


@pytest.mark.parametrize(
    ("last", "this", "said"),
    [
        (
            release(["a"]),
            release(["a"], question="domain"),
            'differ in the question, "top-k" before',
        ),
        (release(["a"], k=3), release(["a"], k=4), 'number of items asked for, "3" before and "4"'),
        (of("2025"), of("2026"), 'the data set, "2025" before and "2026" now'),
        (
            release(["a"]),
            release({"name": ["a"]}),
            'the item columns, "title" before and "name" now',
        ),
        (release(["a"]), release({"title": [1]}), 'types of the columns, "title (String)" before'),
        (grouped({("A", "x"): 5}), release(["a"]), 'the columns of groups, "country" before'),
        (
            release(["a"]),
            release(["a"], guarantee=replace(GUARANTEE, protects="one row")),
            "the unit that is protected",
        ),
        (
            release(["a"]),
            release(["a"], guarantee=replace(GUARANTEE, adjacency="change one user")),
            "the neighbours",
        ),
    ],
)
def test_lists_of_other_things_are_not_compared(last, this, said):
    refusal(
        lambda: sl.diff(last, this), "cannot be compared", said, "compare lists of one question"
    )


def sources():
    """Of each kind, with items of several types."""
    held = {"user": range(400), "n": [400, 300] * 200, "place": ["x", "y"] * 200}
    types = {
        "text": ["a", "b"] * 200,
        "kinds": pl.Series(["a", "b"] * 200, dtype=pl.Categorical),
        "flag": [True, False] * 200,
        "whole": pl.Series([1.0, 2.0] * 200),
        "small": pl.Series([1, 2] * 200, dtype=pl.UInt8),
        "day": [date(2026, 1, 1), date(2026, 1, 2)] * 200,
    }
    rows = pl.DataFrame(held | types)
    for name in types:
        yield sl.pairs(rows, user="user", item=name)
        yield sl.pairs(rows, user="user", item=[name, "place"])
        yield sl.pairs(rows.lazy(), user="user", item=name).grouped("place")
        counts = rows.head(2).select(name, "n")
        yield sl.counts(counts, item=name, count="n", public_items=sl.IN_TABLE)
        yield sl.counts(counts, item=name, count="n", max_items_per_user=1)
    numbers = {"n": [400, 300], "small": pl.Series([1, 2], dtype=pl.UInt8)}
    numbers = pl.DataFrame(numbers)
    yield sl.counts(numbers, item="small", count="n", public_items=[2, 1])
    yield sl.counts(
        numbers.with_columns(by=pl.lit("x")), item="small", count="n", public_items=sl.IN_TABLE,
        by="by", max_groups_per_user=1,
    )  # fmt: skip


def test_a_plan_knows_the_columns_of_items_before_rows_are_read():
    for source in sources():
        plan = source.plan(sl.TopK(2), epsilon=1.0, delta=1e-6)
        known = dict(plan.engine.items)
        assert plan.run(SeededBits(1))._frame.schema == known


def test_so_does_one_of_comparisons_and_of_a_store():
    games = pl.DataFrame({"won": [1, 1, 2], "lost": [2, 3, 3]})
    plan = sl.comparisons(games, winner="won", loser="lost", public_items=sl.IN_TABLE).plan(
        sl.Rank(2), epsilon=1.0
    )
    assert plan.run(SeededBits(1))._frame.schema == dict(plan.engine.items)
    held = sl.stores.MemoryStore(["a", "b", "c"], [90, 60, 30])
    held.prepare()
    plan = sl.store(held).plan(sl.TopK(2), epsilon=1.0)
    assert plan.run(SeededBits(1))._frame.columns == list(plan.engine.items)
    assert dict(plan.engine.items) == {"item": None}


def test_a_data_set_that_is_not_named_is_taken_for_the_same():
    assert sl.diff(of(None), of("2026")).moved == []


def test_what_is_no_release_is_refused():
    refusal(lambda: sl.diff("last.json", release(["a"])), "before=", "must be a release")
    refusal(lambda: sl.diff(release(["a"]), None), "now=", "load the file first")


# Faces


def two():
    titles = About.of_data("plays", "2026-11-22")
    last = listed({"a": 900, "b": 700, "c": 500}, about=About.of_data("plays", "2026-11-15"))
    return last, listed({"b": 950, "a": 700, "d": 400}, about=titles)


def test_the_text_says_what_it_means_and_that_it_costs_nothing():
    said = " ".join(str(sl.diff(*two())).split())
    assert said.startswith("top-k: 1 new, 1 gone, 2 moved, 2 of them by more than noise before: of")
    assert "now: of plays, as of 2026-11-22" in said
    assert "In 95 of 100 comparisons, every move that is called so is a real one" in said
    assert "Whether an item is new or gone by more than noise is not known" in said
    assert said.endswith("nothing was read, and nothing was spent.")


def test_the_table_is_the_same_in_every_form():
    found = sl.diff(*two())
    frame = found.to_polars()
    assert frame.schema == {
        "rank": pl.UInt32, "rank_before": pl.UInt32, "title": pl.String, "change": pl.String,
        "beyond_noise": pl.Boolean, "count": pl.Int64, "count_before": pl.Int64,
    }  # fmt: skip
    assert frame.rows()[0] == (1, 2, "b", "up", True, 950, 700)
    assert frame.rows()[-1] == (None, 3, "c", "gone", None, None, 500)
    assert pl.read_csv(found.to_csv().encode()).rows() == frame.rows()
    told = json.loads(found.to_json())
    assert [tuple(row.values()) for row in told["items"]] == frame.rows()
    assert told["before"]["about"]["as_of"] == "2026-11-15"
    assert found.to_markdown().count("\n|") == 6
    assert "<table>" in found._repr_html_()


def test_its_columns_follow_from_the_plan_and_give_way_to_those_of_items():
    items = {"change": ["a"], "rank": [date(2026, 1, 1)]}
    frame = sl.diff(release(items), release(items)).to_polars()
    assert frame.columns == [
        *("shortlist_rank", "rank_before", "change", "rank", "shortlist_change", "beyond_noise")
    ]
    none = sl.diff(listed({}), listed({})).to_polars()
    assert none.columns == sl.diff(*two()).to_polars().columns


def test_hostile_items_are_shown_and_not_interpreted():
    found = sl.diff(release(HOSTILE), release(HOSTILE[::-1]))
    for shown in (str(found), found._repr_html_()):
        assert "\x1b" not in shown
        assert "<script>" not in found._repr_html_()


def test_a_seeded_list_is_called_not_private():
    found = sl.diff(release(["a"]), release(["a"], private=False))
    assert "not private: the noise came from a seed" in str(found)


def test_a_chart_has_a_line_for_each_item():
    rows = rows_of(sl.diff(*two()).plot())
    ends = {}
    for row in rows:
        ends.setdefault(row["line"], []).append((row["side"], row["rank"], row["marked"]))
    assert sorted(ends.values()) == [
        [("before", 1, True), ("now", 2, True)],
        [("before", 2, True), ("now", 1, True)],
        [("before", 3, False)],
        [("now", 3, False)],
    ]


def test_a_long_list_is_drawn_in_part():
    names = [f"{i}" for i in range(60)]
    random.Random(3).shuffle(names)
    chart = sl.diff(release(names), release(sorted(names))).plot()
    assert max(row["rank"] for row in rows_of(chart)) == 30
    assert "The first 30 items of each list." in chart.to_dict()["title"]["subtitle"]


def test_keys_are_values_of_groups_and_items():
    assert keys(grouped({("A", "x"): 5})) == [("A", "x")]
    assert Example().parameters()


def test_a_report_says_what_changed(tmp_path):
    pytest.importorskip("jinja2")
    last, this = two()
    this.report(tmp_path / "a.html", since=last)
    page = (tmp_path / "a.html").read_text()
    assert "What changed" in page
    assert "top-k: 1 new, 1 gone, 2 moved, 2 of them by more than noise" in page
    assert "since=sl.load" in page
    this.report(tmp_path / "b.html")
    assert "What changed" not in (tmp_path / "b.html").read_text()
    other = release(["a"], question="domain")
    refusal(lambda: this.report(tmp_path / "c.html", since=other), "cannot be compared")
    assert not (tmp_path / "c.html").exists()
