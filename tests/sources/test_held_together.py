"""Pairs and triples of items that users hold together: what is counted, named and refused."""

import datetime as dt
import itertools
import math
import re

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.exhaustive import exhaustive
from helpers.laws import agree, output_law
from helpers.losses import hockey_stick, neighbours
from helpers.refusals import refusal
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.engines import items_together
from shortlist.evidence import Wants
from shortlist.evidence.combinations import combined, numbers_of_combinations
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import LimitedDomain, WeightedGaussianPeeling

PRICE = {"epsilon": 2.0, "delta": 0.2}
ITEMS = ("b", "a", "c")
PAIRS = [("a", "b"), ("a", "c"), ("b", "c")]


def table(data, items=ITEMS, dtype=pl.String):
    rows = [(user, items[item]) for user, held in enumerate(data) for item in sorted(held)]
    return pl.DataFrame(rows, schema={"user": pl.Int64, "item": dtype}, orient="row")


def source(data, of=2, bound=None, **given):
    rows = table(data, **given)
    return sl.pairs(rows, user="user", item="item", max_items_per_user=bound).together(of)


def law_of(data, mechanism, bound=None, k=2):
    """The law of what is named, in order, as the rows of the release."""
    asked = source(data, bound=bound)
    plan = asked.plan(sl.TopK(k), mechanism=mechanism, **PRICE)

    def run(draws):
        with plan.engine.show(plan.mechanism.wants, draws) as shown:
            selection = plan.mechanism.select(shown.evidence, draws)
            return tuple(shown.items(selection.positions).rows())

    return law(run)


DATA = [
    (frozenset({0, 1}), frozenset({0, 1}), frozenset({0, 1, 2})),
    *exhaustive(((frozenset({0, 1, 2}),) * 3,), ((frozenset({0, 2}), frozenset({1})),)),
]


@pytest.mark.parametrize("data", DATA)
def test_pairs_are_selected_as_items_are(data):
    """The whole law, beside that of the mechanism on a table whose items are the pairs."""
    found = law_of(data, WeightedGaussianPeeling)
    mechanism = source(data).plan(sl.TopK(2), mechanism=WeightedGaussianPeeling, **PRICE).mechanism
    named = [{ITEMS[i] for i in held} for held in data]
    sets = [frozenset(n for n, pair in enumerate(PAIRS) if set(pair) <= held) for held in named]
    expected = {}
    for (*positions, _, _), chance in output_law(mechanism, sets).items():
        rows = tuple(PAIRS[position] for position in positions)
        expected[rows] = expected.get(rows, 0) + chance
    agree(found, expected, 1e-9)


def excess(mechanism, bound, users, k=1):
    """By how much delta between small neighbours exceeds the claim, in the worst case."""
    worst = -math.inf
    laws = {}

    def told(data):
        return laws.setdefault(data, law_of(data, mechanism, bound, k))

    for some, more in neighbours(range(3), users):
        p, q = told(some), told(more)
        for epsilon in (0.5, 2.0):
            claim = source(some, bound=bound).plan(sl.TopK(k), mechanism=mechanism, **PRICE)
            cost = claim.mechanism.cost
            lost = max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
            worst = max(worst, lost - cost.delta(epsilon))
    return worst


# Of three items there are three pairs: with bounds of 2 and 1 items, one pair of a user counts.
KINDS = [
    (WeightedGaussianPeeling, 2),
    *exhaustive((WeightedGaussianPeeling, None), (LimitedDomain, 2), (LimitedDomain, None)),
]


@pytest.mark.parametrize(("mechanism", "bound"), KINDS)
def test_it_is_private_between_all_small_neighbours(mechanism, bound):
    assert excess(mechanism, bound, users=2) <= 1e-9


def test_a_pair_that_counts_in_both_orders_is_caught(monkeypatch):
    """Then one user adds twice as much as is paid for."""

    def twice(sizes, of):
        return 2 * numbers_of_combinations(sizes, of)

    def in_both_orders(held, of):
        return (np.repeat(piece, 2, axis=1) for piece in combined(held, of))

    monkeypatch.setattr(items_together, "numbers_of_combinations", twice)
    monkeypatch.setattr(items_together, "combined", in_both_orders)
    assert excess(LimitedDomain, None, users=2) > 0.01


@pytest.mark.parametrize(
    ("of", "bound", "most"),
    [(2, None, 2016), (3, None, 2024), (2, 100, 4950), (3, 3, 1), (3, 2, 1)],
)
def test_of_each_user_no_more_count_than_is_said_whatever_is_wanted(of, bound, most):
    asked = source([range(200)], of, bound, items=tuple(range(200)), dtype=pl.Int64)
    plan = asked.plan(sl.TopK(5), **PRICE)
    assert plan.mechanism.max_items_per_user == most
    with plan.engine.show(Wants(Contributions), ExactDraws(SeededBits(1))) as shown:
        assert shown.evidence.largest == most
        assert shown.evidence.counts.sum() == most


def test_of_a_user_with_many_items_each_subset_counts_as_often():
    """And of it, all pairs."""
    plan = source([range(5)], 2, 3, items=tuple("abcde")).plan(sl.TopK(5), **PRICE)

    def pairs(draws):
        with plan.engine.show(Wants(Contributions), draws) as shown:
            return frozenset(shown.items(np.flatnonzero(shown.evidence.counts)).rows())

    some = itertools.combinations("abcde", 3)
    expected = {frozenset(itertools.combinations(held, 2)): 1 / 10 for held in some}
    assert law(pairs) == pytest.approx(expected)


TYPES = {
    "text": (lambda n: "zéß"[n % 3] + str(n), pl.String),
    "integers": (lambda n: 7 - n, pl.Int32),
    "dates": (lambda n: dt.date(2026, 1, 9) - dt.timedelta(days=n), pl.Date),
}


@pytest.mark.parametrize("of", [2, 3])
@pytest.mark.parametrize("kind", TYPES)
def test_items_of_a_row_rise_and_keep_their_type(kind, of):
    name, dtype = TYPES[kind]
    items = tuple(map(name, range(4)))
    asked = source([range(4)] * 900, of, items=items, dtype=dtype)
    release = asked.plan(sl.TopK(20), epsilon=5.0, delta=1e-3).run(SeededBits(2))
    assert set(release.items) == set(itertools.combinations(sorted(items), of))
    names = [f"item_{place}" for place in range(1, of + 1)]
    frame = release.to_polars().select(names)
    assert frame.dtypes == [dtype] * of
    assert list(asked._engine.items) == names


def test_the_order_of_rows_and_repeated_rows_say_nothing():
    rows = table([{0, 1, 2}] * 300 + [{0, 1}] * 300 + [{0, 2}] * 150)
    turned = pl.concat([rows.reverse(), rows.head(100)])
    one, other = (
        sl.pairs(frame, user="user", item="item").top_k(
            3, of=2, noisy_counts=True, epsilon=5.0, delta=1e-3, random=SeededBits(3)
        )
        for frame in (rows, turned)
    )
    assert one.items == other.items
    counts = one.to_polars()["clipped_count"].to_list()
    assert counts == pytest.approx([600, 450, 300], abs=60)


def test_what_it_is_of_is_said_and_saved(tmp_path):
    release = source([{0, 1, 2}] * 900).plan(sl.TopK(2), epsilon=5.0, delta=1e-3).run(SeededBits(1))
    assert "pairs, each of 2 things that the same user holds" in " ".join(str(release).split())
    release.save(tmp_path / "pairs.json")
    assert sl.load(tmp_path / "pairs.json") == release
    assert sl.load(tmp_path / "pairs.json").about.together == 2
    said = source([], 3).plan(sl.TopK(2), epsilon=1.0, delta=1e-6).explain()
    assert "Items are triples, each of 3 things that the same user holds." in said


def test_all_that_are_common_enough_can_be_named_too():
    asked = source([{0, 1, 2}] * 900 + [{0, 1}] * 900)
    release = asked.plan(sl.Domain(), epsilon=5.0, delta=1e-3).run(SeededBits(1))
    assert set(release.items) == set(PAIRS)


def test_a_budget_gives_the_answer_again_to_the_same_pairs_alone(tmp_path):
    path = tmp_path / "rows.parquet"
    table([{0, 1, 2}] * 900).write_parquet(path)
    total = sl.Budget.create(
        tmp_path / "b", epsilon=3.0, delta=1e-6, dataset="plays", protects="user"
    )
    rows = sl.pairs(path, user="user", item="item", budget=total)
    asked = {"epsilon": 0.5, "delta": 1e-7, "reuse": True}
    first = rows.top_k(2, of=2, **asked)
    assert rows.top_k(2, of=2, **asked).given_before is not None
    for other in (rows.top_k(2, **asked), rows.top_k(2, of=3, **asked)):
        assert other.given_before is None
        assert other.about.together != first.about.together


@pytest.mark.parametrize(("of", "kind"), [(2, "pairs"), (3, "triples")])
def test_what_counts_of_a_user_is_said_to_be_what_is_counted(of, kind):
    plan = source([{0, 1, 2}] * 3, of).plan(sl.TopK(1), **PRICE)
    for told in (" ".join(str(plan.run(SeededBits(1))).split()), plan._repr_html_()):
        assert re.search(rf"of each user at most 2,0\d\d {kind} count", told)
        assert "items count" not in told


def test_what_is_refused():
    rows = sl.pairs(table([{0, 1}]), user="user", item="item")
    price = {"epsilon": 1.0, "delta": 1e-6}
    for of in (0, 4, 2.5, "2", None):
        refusal(lambda of=of: rows.top_k(1, of=of, **price), "must be 2, for pairs of items, or 3")
    refusal(lambda: rows.top_k(1, of=2, by="item", **price), "by group")
    refusal(lambda: rows.top_k(1, of=2, others=True, **price), "only some count")
    refusal(lambda: rows.together(2).plan(sl.HittingSet(2), **price), "hitting-set: it is asked")
    knowing = sl.pairs(table([{0, 1}]), user="user", item="item", known_items=["a"])
    refusal(lambda: knowing.top_k(1, of=2, **price), "known_items: pairs are discovered")
    public = sl.pairs(table([{0, 1}]), user="user", item="item", public_items=["a"])
    refusal(lambda: public.top_k(1, of=2, **price), "public_items: pairs are discovered")
    wide = table([{0, 1}]).with_columns(year=pl.lit(1818))
    several = sl.pairs(wide, user="user", item=["item", "year"])
    refusal(lambda: several.top_k(1, of=2, **price), "pairs are of items of one column")
    refusal(lambda: rows.together(2).plan(sl.TopK(1), **price).expect(users=9, items=9), "together")
