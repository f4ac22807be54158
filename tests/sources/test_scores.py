"""Scores as the source: what is stated, what is read, and what leaves."""

import json
import math
from functools import partial

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.refusals import MARKER, refusal, refused_silently
from shortlist import mechanisms
from shortlist.mechanisms import Adjacency, JointOrPeel, Peeling
from shortlist.mechanisms.wrappers import OfScores
from shortlist.table.sensitive_table import numbers_of

ITEMS = ["Emma", "Dune", "Ulysses", "Persuasion"]
HOURS = [900.5, -40.25, 300.0, -700.0]
STATED = {"sensitivity": 0.5, "direction": sl.Direction.ONE, "missing": 0.0}


def frame(scores=HOURS, items=ITEMS, **types):
    return pl.DataFrame({"title": items, "hours": scores}, **types)


def scores(data=None, **given):
    data = frame() if data is None else data
    stated = {**STATED, "public_items": sl.IN_TABLE, **given}
    return sl.scores(data, item="title", score="hours", **stated)


def test_the_best_and_the_least_come_first():
    source = scores()
    assert source.top_k(2, epsilon=1.0).items == ["Emma", "Ulysses"]
    assert source.bottom_k(2, epsilon=1.0).items == ["Persuasion", "Dune"]
    assert source.top_k(4, epsilon=1.0, mechanism=Peeling).items == [ITEMS[i] for i in (0, 2, 1, 3)]
    release = source.top_k(2, epsilon=1.0)
    assert release.question == "top-scores"
    assert release.scores is None
    assert isinstance(release.mechanism, OfScores)
    assert type(release.mechanism.selection) is JointOrPeel


def test_every_mechanism_that_reads_units_answers():
    source, question = scores(direction=sl.Direction.ANY), sl.TopScores(1)
    usable = source.mechanisms_for(question)
    assert len(usable) == 8
    for kind in usable:
        assert source.top_k(1, epsilon=1.0, mechanism=kind).items == ["Emma"]


def test_what_was_stated_is_in_the_release():
    release = scores(neighbours=Adjacency.GENERAL).top_k(1, epsilon=1.0)
    guarantee = release.guarantee
    assert guarantee.adjacency == "add, remove or change one user"
    assert guarantee.protects == (
        'one user, who moves each score in "hours" by at most 0.5, all the same way'
    )
    assert any("the word of whoever gave them" in line for line in guarantee.assumes)
    told = release.mechanism.parameters()
    assert (told["sensitivity"], told["direction"]) == (0.5, "one")
    both = scores(direction=sl.Direction.ANY).top_k(1, epsilon=1.0).guarantee.protects
    assert "each one up or down" in both


def test_noisy_scores_come_with_intervals_and_are_saved(tmp_path):
    release = scores().top_k(2, epsilon=2.0, delta=1e-6, noisy_scores=True)
    table = release.to_polars()
    assert table.columns == ["rank", "title", "score", "score_low", "score_high"]
    assert table.dtypes[2:] == [pl.Float64] * 3
    assert release.scores.unit == "noisy score"
    assert abs(release.scores[0] - 900.5) < 10 * release.scores.noise_sd
    assert (table["score_low"] < table["score"]).all()
    for name in ("a.json", "a.parquet"):
        release.save(tmp_path / name)
        assert sl.load(tmp_path / name) == release
        assert sl.load(tmp_path / name).to_polars().equals(table)
    text = str(release)
    assert "the score without noise is in the interval" in text
    assert "number of users" not in text


def test_noise_has_the_size_of_the_sensitivity():
    def sd(**given):
        plan = scores(**given).plan(sl.TopScores(1, noisy_scores=True), epsilon=1.0)
        return plan.mechanism.selection.count_sd

    assert sd(sensitivity=5.0) == pytest.approx(10 * sd(sensitivity=0.5), rel=1e-12)


def test_pages_and_plans_speak_of_scores(tmp_path):
    plan = scores().plan(sl.BottomScores(2, noisy_scores=True), epsilon=2.0)
    assert "One user moves a score by at most 0.5." in plan.explain()
    release = plan.run()
    release.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    for words in ("The items with the smallest scores", "What is the score of an item?"):
        assert words in page
    for words in ("How many users hold an item?", "more users first"):
        assert words not in page
    release.plot()


# --- what is read


def test_what_has_no_score_has_the_missing_one():
    data = frame([None, float("nan"), 1.0, 2.0], strict=False)
    assert scores(data, missing=100.0).bottom_k(2, epsilon=5.0).items == ITEMS[2:]
    texts = frame(["", "many", "1.0", " 2e0 "])
    for missing, named in ((100.0, ITEMS[:2]), (-100.0, ITEMS[3:1:-1])):
        told = scores(texts.to_dict(as_series=False), missing=missing).top_k(2, epsilon=20.0)
        assert sorted(told.items) == sorted(named)


def test_a_list_of_public_items_decides_which_are_named():
    source = scores(public_items=["Dune", "nobody reads this", "Ulysses"], missing=-9.0)
    told = source.top_k(3, epsilon=20.0)
    assert told.items == ["Ulysses", "nobody reads this", "Dune"]
    assert "there are only 3 public items" in refusal(lambda: source.top_k(4, epsilon=1.0))


@pytest.mark.parametrize(("missing", "named"), [(1e6, "nobody reads this"), (-1e6, "Dune")])
def test_an_item_of_the_list_without_a_row_has_the_missing_score(missing, named):
    source = scores(public_items=["Dune", "nobody reads this"], missing=missing)
    assert source.top_k(1, epsilon=1.0).items == [named]


@pytest.mark.parametrize("score", [math.inf, -math.inf, 1e300, math.nan, None])
def test_no_score_is_refused(score):
    data = frame([score, 1.0, 2.0, 3.0], strict=False)
    for kind in scores(data).mechanisms_for(sl.TopScores(2)):
        told = scores(data).top_k(2, epsilon=1.0, mechanism=kind)
        assert len(told.items) == 2
    told = scores(data).top_k(2, epsilon=1.0, noisy_scores=True)
    assert all(map(math.isfinite, told.scores))


def test_integers_and_floats_of_any_width_are_scores():
    for dtype in (pl.Int8, pl.UInt64, pl.Float32):
        data = frame([3, 1, 2, 0]).with_columns(pl.col("hours").cast(dtype))
        assert scores(data, sensitivity=0.01).top_k(2, epsilon=1.0).items == ["Emma", "Ulysses"]
    large = frame([2**63 - 1, 2**53 + 2, -(2**63), 0])
    assert scores(large).top_k(1, epsilon=1.0).items[0] in ITEMS[:2]


def test_integers_between_which_doubles_skip_move_no_further_than_they_did():
    near = 2**53 + np.arange(-2, 5)
    assert np.diff(numbers_of(pl.Series(near))).max() <= 1
    assert np.diff(numbers_of(pl.Series(-near[::-1]))).max() <= 1


def test_a_file_and_a_frame_are_read_alike(tmp_path):
    frame().write_csv(tmp_path / "hours.csv")
    frame().write_parquet(tmp_path / "hours.parquet")
    for name in ("hours.csv", "hours.parquet"):
        assert scores(tmp_path / name).top_k(1, epsilon=1.0).items == ["Emma"]


def test_nothing_is_read_before_it_is_charged():
    class Refusing:
        def charge(self, plan):
            raise RuntimeError(plan.question.name)

    rows = frame().lazy().map_batches(lambda _: pytest.fail("rows were read"))
    with pytest.raises(RuntimeError, match="top-scores"):
        scores(rows, budget=Refusing()).top_k(1, epsilon=1.0)


def test_a_budget_is_charged_and_gives_it_again(tmp_path):
    protects = scores().plan(sl.TopScores(1), epsilon=1.0).guarantee.protects
    frame().write_csv(tmp_path / "hours.csv")
    budget = sl.Budget.create(
        tmp_path / "a.budget", epsilon=2.0, delta=1e-6, protects="user", dataset="hours"
    )
    ask = partial(scores(tmp_path / "hours.csv", budget=budget).top_k, 1, epsilon=0.5)
    release = ask()
    assert protects in release.guarantee.protects
    assert ask(reuse=True).given_before is not None
    assert (
        scores(tmp_path / "hours.csv", budget=budget, missing=1.0)
        .plan(sl.TopScores(1), epsilon=0.5)
        .kept()
        is None
    )


# --- refusals


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"public_items": None}, "which items have a score would say something about users"),
        ({"direction": "one"}, "must be one of Direction.ONE, Direction.ANY"),
        ({"neighbours": "general"}, "must be one of Adjacency.ADD_REMOVE, Adjacency.GENERAL"),
        ({"sensitivity": 0}, "must be a number above 0"),
        ({"missing": math.nan}, "must be a number, and finite"),
        ({"missing": None}, "must be a number, and finite"),
    ],
)
def test_what_is_stated_is_checked_at_once(given, words):
    refusal(lambda: scores(**given), words)


@pytest.mark.parametrize("name", ["sensitivity", "direction", "missing", "public_items"])
def test_nothing_that_is_stated_has_a_default(name):
    given = {**STATED, "public_items": sl.IN_TABLE}
    del given[name]
    with pytest.raises(TypeError, match=name):
        sl.scores(frame(), item="title", score="hours", **given)


@pytest.mark.parametrize(
    "column", [pl.Series([True] * 4), pl.Series([None] * 4, dtype=pl.Date), pl.Series([[1.0]] * 4)]
)
def test_other_columns_are_no_scores(column):
    data = frame().with_columns(hours=column)
    refusal(lambda: scores(data), "scores are integers or floats")


def test_an_item_with_two_rows_is_refused_without_a_word_of_it(capfd, caplog):
    data = frame(items=[MARKER, MARKER, "a", "b"])
    ask = partial(scores(data).top_k, 1, epsilon=1.0)
    error = refused_silently(ask, capfd, caplog, "900")
    assert "with its score" in str(error)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (mechanisms.LimitedDomain, "it discovers private items, and these are public"),
        (mechanisms.CountEach, "these are scores"),
    ],
)
def test_mechanisms_of_users_are_refused(kind, why):
    refusal(lambda: scores().top_k(1, epsilon=1.0, mechanism=kind), why)


def test_options_on_users_are_refused():
    for option in ({"neighbours": Adjacency.GENERAL}, {"max_items_per_user": 2}):
        kind = partial(mechanisms.OneShotLaplace, **option)
        refusal(partial(scores().top_k, 1, epsilon=1.0, mechanism=kind))


def test_questions_about_users_are_refused():
    refusal(lambda: scores().plan(sl.TopK(1), epsilon=1.0), "these are scores")
    readers = sl.counts(
        {"title": ["a"], "n": [1]}, item="title", count="n", public_items=sl.IN_TABLE
    )
    refusal(lambda: readers.plan(sl.TopScores(1), epsilon=1.0), "these are numbers of users")


def test_a_mechanism_from_elsewhere_that_knows_no_units_is_refused():
    class Unaware(Peeling):
        def select(self, evidence, draws):
            return super().select(evidence, draws)

    refusal(lambda: scores().top_k(1, epsilon=1.0, mechanism=Unaware), "these are scores")


def test_a_release_says_which_budget_and_question(tmp_path):
    release = scores().bottom_k(1, epsilon=1.0)
    release.save(tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text())["question"] == "bottom-scores"
    later = scores().bottom_k(1, epsilon=1.0)
    assert "scores are no numbers of users" in str(sl.diff(release, later))


def test_scores_do_not_depend_on_the_order_of_rows():
    data = frame(np.arange(4.0) * 100)
    assert (
        scores(data).top_k(2, epsilon=5.0).items == scores(data[::-1]).top_k(2, epsilon=5.0).items
    )


def test_what_counts_of_users_would_tell_is_refused_before_rows_are_read():
    rows = frame().lazy().map_batches(lambda _: pytest.fail("rows were read"))
    source, question = scores(rows), sl.TopScores(1)
    plan = source.plan(question, epsilon=1.0)
    refusal(
        lambda: sl.metrics.compare(source, question, epsilon=1.0), "nothing is known to measure"
    )
    refusal(lambda: plan.expect(users=10, items=3), "only whoever computes them knows")
    refusal(plan.plot, "everybody knows the items")
