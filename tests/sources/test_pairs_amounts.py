"""Top-k by what users spent: what is named, what a release says, and what is refused unspent."""

import json
from functools import partial

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.budgets import created
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import UserAmounts, UserSets, Wants
from shortlist.mechanisms import (
    AdaptiveGaussianPeeling,
    AdaptiveTopK,
    LimitedDomain,
    OneShotLaplace,
    PerGroup,
)

HUGE = {"epsilon": 1e4, "delta": 1e-6}
PRICE = {"epsilon": 1.0, "delta": 1e-6}
TITLES = ["Emma", "Dune", "Ulysses", "Kim"]
# Few spent much on Dune, and many a little on Emma; one spent without end on Ulysses.
SPENT = [
    *((user, "Emma", 3.0) for user in range(400)),
    *((user, "Dune", 30.0) for user in range(300) for _ in range(2)),
    *((user, "Kim", 1.0) for user in range(250)),
    (0, "Ulysses", 1e9),
    (1, "Dune", None),
    (2, "Dune", float("nan")),
    (3, "Emma", float("-inf")),
    (4, "Kim", -5.0),
]
ROWS = pl.DataFrame(SPENT, schema=["user", "title", "minutes"], orient="row", strict=False)
LANDS = ROWS.with_columns(land=pl.lit("NO"))
SUMS = {"Dune": 300 * 50.0, "Emma": 400 * 3.0, "Kim": 249.0, "Ulysses": 50.0}


def source(data=ROWS, **more):
    given = {"user": "user", "item": "title", "amount": "minutes", "cap": 50} | more
    return sl.pairs(data, **given)


def seeded(asked, k=4, **more):
    return asked.top_k(k, **HUGE | more, random=SeededBits(1))


@pytest.mark.parametrize("public", [None, TITLES])
def test_items_are_ranked_by_sums_of_what_each_user_spent_up_to_the_cap(public):
    found = seeded(source(public_items=public), noisy_counts=True)
    sums = dict(sorted(SUMS.items(), key=lambda one: -one[1])) if public else SUMS
    named = [title for title in sums if public or title != "Ulysses"]  # of which one user knows
    assert found.items == named
    table = found.to_polars()
    assert table.columns == ["rank", "title", "amount", "amount_low", "amount_high"]
    for title, amount, low, high in table.drop("rank").rows():
        assert low <= SUMS[title] <= high
        assert abs(amount - SUMS[title]) < 2


def test_the_default_is_a_search_by_holders_then_picks_by_sums():
    assert source().default_for(sl.TopK(2)) is AdaptiveGaussianPeeling
    assert seeded(source(), 2, mechanism=LimitedDomain).items == ["Dune", "Emma"]
    assert seeded(source().of_items(TITLES), 1).items == ["Dune"]


def test_with_a_cap_far_above_all_one_user_cannot_be_seen():
    """The noise grows with the cap: Ulysses, of which one user has nearly all, is not on top."""
    asked = source(cap=1e9, public_items=TITLES)
    first = {asked.top_k(1, epsilon=0.1, random=SeededBits(seed)).items[0] for seed in range(40)}
    assert first == set(TITLES)


@pytest.mark.parametrize("public", [None, TITLES])
def test_of_which_type_columns_are_does_not_depend_on_rows(public):
    ask = partial(seeded, k=2, noisy_counts=True)
    many, none = (ask(source(rows, public_items=public)) for rows in (ROWS, ROWS.clear()))
    assert many.to_polars().schema == none.to_polars().schema


def test_a_release_says_column_cap_and_step(tmp_path):
    found = seeded(source(), 2, noisy_counts=True)
    said = '"minutes", capped at 50 per user and item, in steps of 4.77e-05'
    assert found.about.amount == said
    words = " ".join(found.explain().split())
    assert f"By sums of: {said}" in words
    assert "The items with the largest sums" in words
    assert "one cap counts as one person" in words
    assert "each up to the cap, is in its" in words
    assert "capped at 50" in str(found)
    assert "the amount without noise is in" in " ".join(str(found).split())
    for name in ("found.json", "found.parquet"):
        found.save(tmp_path / name)
        again = sl.load(tmp_path / name)
        assert again.to_polars().equals(found.to_polars())
        assert (again.about, again.scores.unit) == (found.about, "noisy amount")
    assert json.loads(found.to_json())["columns"]["end_type"] == "Float64"
    assert "amount_low" in found.to_csv()
    found.report(tmp_path / "found.html")
    assert "capped at 50" in (tmp_path / "found.html").read_text()


def test_of_an_interval_no_more_digits_are_told_than_say_something():
    found = seeded(source(public_items=TITLES), noisy_counts=True, epsilon=0.001)
    ends = found.to_polars().select("amount_low", "amount_high")
    assert all(end % 1000 == 0 for column in ends for end in column)
    far, most = found.scores.reach("Normal"), found.scores.noise_sd / 100
    for amount, low, high in zip(found.scores, *ends, strict=True):
        assert max(amount - far - most, 0) <= low <= max(amount - far, 0)
        assert amount + far <= high <= amount + far + most


def test_what_is_said_of_counts_is_said_of_amounts():
    plan = source().plan(sl.TopK(2, noisy_counts=True), **PRICE)
    said = " ".join(str(seeded(source(), 2, noisy_counts=True)).split())
    for told in (said, plan._repr_html_()):
        assert "of the budget for amounts" in told
        assert "for counts" not in told
    assert "whole number" not in plan.explain()


def test_a_plan_explains_what_a_count_is():
    told = source().plan(sl.TopK(2, noisy_counts=True), **PRICE).explain()
    assert 'Items are ranked by sums of "minutes", capped at 50 per user and item' in told
    assert "A count below is the sum of an item in units of 50" in told
    assert source().plan(sl.TopK(2), **PRICE).to_dict()["about"]["amount"] is not None
    assert "amount" in repr(source())


def test_lists_by_other_sums_are_not_compared():
    one, other = (seeded(source(cap=cap), 2, noisy_counts=True) for cap in (50, 60))
    refusal(lambda: sl.diff(one, other), "sums")
    assert "ranked by amounts" in sl.diff(one, one).unjudged


def test_a_budget_knows_amounts_again(tmp_path):
    budget = created(tmp_path / "plays.budget", epsilon=9.0, delta=1e-3)
    asked = partial(source, budget=budget, as_of="2026-11-24")
    ask = {"epsilon": 1.0, "delta": 1e-6, "reuse": True}
    asked().top_k(2, **ask)
    assert asked().top_k(2, **ask).given_before
    assert asked(cap=51).top_k(2, **ask).given_before is None
    assert asked(amount=None, cap=None).top_k(2, **ask).given_before is None


REFUSED = {
    "domain": (lambda s: s.domain(**PRICE), ["domain: sums of amount", "omit amount"]),
    "hitting set": (lambda s: s.hitting_set(2, **PRICE), ["hitting-set: sums of amount"]),
    "user counts": (lambda s: s.user_counts(TITLES, epsilon=1.0), ["user-counts: sums of"]),
    "groups of amounts": (
        lambda s: s.top_k(2, by="minutes", **PRICE),
        ['amount="minutes" and by="minutes" are the same column'],
    ),
    "groups' own items": (
        lambda s: s.top_k(2, by="land", group_items=sl.GroupItems.OWN, **PRICE),
        ["group_items: with amount", "max_groups_per_user"],
    ),
    "all groups together": (
        lambda s: s.top_k(2, by="land", mechanism=PerGroup, **PRICE),
        ["mechanism=PerGroup", "does not look at what they spent"],
    ),
    "a domain by group": (
        lambda s: s.domain(by="land", **PRICE),
        ["domain: sums of amount", "omit amount"],
    ),
    "noise alone in groups": (
        lambda s: s.of_items(TITLES).top_k(
            2, by="land", public_groups=["NO"], count_share=1e-6, noisy_counts=True, epsilon=1e-3
        ),
        ["count_share", "all noise"],
    ),
    "pairs": (lambda s: s.together(2), ["amount ranks items that stand alone"]),
    "a series": (lambda s: s.for_series(), ["amount: a series lists items by who holds them"]),
    "no order": (
        lambda s: s.of_items(TITLES).top_k(2, ordered=False, epsilon=1.0),
        ["ordered=False", "a list has an order"],
    ),
    "a floor": (lambda s: s.top_k(2, min_users=9, **PRICE), ["min_users=9", "no users are"]),
    "others": (lambda s: s.top_k(2, others=True, **PRICE), ["others=True", "no users are"]),
    "rounds alone": (
        lambda s: s.top_k(2, mechanism=AdaptiveTopK, **PRICE),
        ["mechanism=AdaptiveTopK", "does not look at what they spent"],
    ),
    "parts": (
        lambda s: s.top_k(2, mechanism=LimitedDomain, noisy_counts=True, **PRICE),
        ["some items of a user alone", "noisy_counts"],
    ),
    "noise alone": (
        lambda s: s.top_k(2, count_share=1e-6, noisy_counts=True, epsilon=1e-3, delta=1e-6),
        ["count_share", "all noise"],
    ),
    "a small share with a cap that is chosen for all groups": (
        lambda _: source(LANDS, cap=[5, 50]).top_k(
            2, by="land", count_share=1e-6, epsilon=1e-5, delta=1e-6
        ),
        ["count_share", "all noise"],
    ),
    "inventing": (
        lambda s: s.plan(sl.TopK(2), **PRICE).expect(users=9, items=9),
        ["no table with amounts is invented"],
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_of_amounts_is_refused_before_a_row_is_read(what, tmp_path):
    ask, said = REFUSED[what]
    budget = created(tmp_path / "plays.budget", epsilon=9.0, delta=1e-3)
    before = budget.to_csv()
    refusal(lambda: ask(source(LANDS, budget=budget)), *said)
    assert budget.to_csv() == before


def test_counts_for_nothing_are_refused_likewise():
    few = partial(OneShotLaplace, max_items_per_user=1)
    asked = source(public_items=TITLES)
    ask = partial(asked.top_k, 2, epsilon=1.0, mechanism=few)
    refusal(lambda: ask(noisy_counts=True), "some items of a user alone")
    assert ask().scores is None


def test_what_is_measured_by_comparing_are_users():
    refusal(lambda: sl.metrics.compare(source(), sl.TopK(2), **PRICE), "and not amounts")


def test_known_items_are_refused_where_they_are_given():
    refusal(lambda: source(known_items=TITLES), "known_items", "public_items")


def test_pairs_of_columns_are_ranked_by_amounts():
    rows = ROWS.with_columns(place=pl.col("user") % 2)
    found = seeded(source(rows, item=["place", "title"]), 2, noisy_counts=True).to_polars()
    assert set(zip(found["place"], found["title"], strict=True)) == {(0, "Dune"), (1, "Dune")}
    assert found["amount"].to_list() == pytest.approx([7500, 7500], abs=5)


IN_LANDS = pl.DataFrame(
    [
        *((user, land, "Emma", 3.0) for user in range(400) for land in ("NO", "SE")),
        *((user, "NO", "Dune", 30.0) for user in range(300) for _ in range(2)),
        *((user, "SE", "Dune", 1.0) for user in range(300)),
        (0, "NO", "Kim", 1e9),
    ],
    schema=["user", "land", "title", "minutes"],
    orient="row",
)
SUMS_IN_LANDS = {"NO": {"Dune": 15_000, "Emma": 1_200}, "SE": {"Emma": 1_200, "Dune": 300}}


def in_lands(asked, k=2, **more):
    given = {"by": "land", "max_groups_per_user": 2, "noisy_counts": True} | HUGE | more
    return asked.top_k(k, **given, random=SeededBits(1))


@pytest.mark.parametrize("groups", [None, ["NO", "SE", "DK"]])
@pytest.mark.parametrize("titles", [None, ["Emma", "Dune"]])
def test_each_group_is_ranked_by_what_was_spent_there(groups, titles):
    if titles is not None and groups is None:
        refusal(lambda: in_lands(source(IN_LANDS, public_items=titles)), "public, too")
        return
    asked = source(IN_LANDS, public_items=titles)
    found = in_lands(asked, public_groups=groups).to_polars()
    for land, sums in SUMS_IN_LANDS.items():
        own = found.filter(pl.col("land") == land)
        assert own["title"].to_list() == list(sums)
        assert own["amount"].to_list() == pytest.approx(list(sums.values()), abs=10)
    assert set(found["land"]) == {"NO", "SE"} | ({"DK"} if titles else set())


def test_a_user_has_sums_in_so_many_groups_and_no_more():
    """Everybody is in both lands: in one alone, what all count there adds up to half."""
    asked = source(IN_LANDS, public_items=["Emma"])
    found = in_lands(asked, 1, public_groups=["NO", "SE"], max_groups_per_user=1).to_polars()
    assert found["amount"].sum() == pytest.approx(1_200, abs=10)
    assert found["amount"].min() > 400


def test_amounts_in_groups_are_those_of_rows_that_count():
    """Planted elsewhere: a filter that comes after users are bounded leaves fewer sums."""
    asked = source(IN_LANDS, public_items=["Emma"], where="land = 'NO'")
    found = in_lands(asked, 1, public_groups=["NO", "SE"], max_groups_per_user=1).to_polars()
    amounts = dict(found.select("land", "amount").iter_rows())
    assert amounts == {"NO": pytest.approx(1_200, abs=10), "SE": pytest.approx(0, abs=10)}


def test_a_plan_says_that_sums_are_of_each_group():
    told = source(IN_LANDS).grouped("land").plan(sl.TopK(2), **PRICE).explain()
    assert "In each group a user has sums of the rows there, each up to the cap." in told
    assert source(IN_LANDS).grouped("land").default_for(sl.TopK(2)) is AdaptiveGaussianPeeling


CAPS = (5, 60, 600)


def test_a_cap_is_chosen_and_told(tmp_path):
    found = seeded(source(cap=CAPS), 2, noisy_counts=True, epsilon=40.0)
    assert found.cap == 60
    assert found.items == ["Dune", "Emma"]
    for amount, (low, high) in zip(
        (300 * 60.0, 400 * 3.0),
        found.to_polars().select("amount_low", "amount_high").rows(),
        strict=True,
    ):
        assert low <= amount <= high
    said = '"minutes", capped at 5, 60 or 600 (chosen privately) per user and item, in steps of'
    assert said in found.about.amount
    assert "cap" in str(found)
    assert "60, which was chosen privately" in " ".join(str(found).split())
    words = " ".join(found.explain().split())
    assert "Cap that was chosen: 60" in words
    assert "The cap of 60 was chosen privately" in words
    for name in ("found.json", "found.parquet"):
        found.save(tmp_path / name)
        again = sl.load(tmp_path / name)
        assert (again, again.cap) == (found, 60)
    forged = json.loads(found.to_json()) | {"cap": 51.0}
    (tmp_path / "forged.json").write_text(json.dumps(forged))
    refusal(lambda: sl.load(tmp_path / "forged.json"), "its cap is none of those")


def test_of_a_given_cap_nothing_is_chosen():
    found = seeded(source(), 2)
    assert found.cap is None
    assert "chosen" not in str(found)
    assert "cap" not in json.loads(found.to_json())


def test_a_plan_and_a_budget_say_that_a_cap_is_chosen(tmp_path):
    budget = created(tmp_path / "plays.budget", epsilon=9.0, delta=1e-3)
    asked = partial(source, budget=budget, as_of="2026-11-24", cap=CAPS)
    plan = asked().plan(sl.TopK(2), **PRICE)
    assert "The cap is chosen privately, from 5, 60 and 600" in plan.explain()
    assert plan.guarantee.epsilon == 1.0
    assert plan.mechanism.cost.delta(1.0) <= 1e-6
    assert repr(asked()).endswith("cap=(5, 60, 600)>")
    first = asked().top_k(2, **PRICE, reuse=True)
    again = asked(cap=[600, 60, 5]).top_k(2, **PRICE, reuse=True)
    assert (again.given_before is not None, again.cap) == (True, first.cap)
    assert asked(cap=(5, 50)).top_k(2, **PRICE, reuse=True).given_before is None


@pytest.mark.parametrize(("groups", "lists"), [(None, 16), (["NO", "SE", "DK"], 3)])
def test_a_plan_in_groups_says_that_one_cap_is_chosen_for_all(groups, lists):
    in_groups = source(LANDS, cap=CAPS).grouped("land", public_groups=groups)
    plan = in_groups.plan(sl.TopK(2), **PRICE)
    assert "It is one for all groups." in plan.explain()
    assert plan.mechanism.parameters()["lists"] == lists
    assert plan.mechanism.cost.delta(1.0) <= 1e-6
    assert in_groups.top_k(2, **PRICE).cap in CAPS


@pytest.mark.parametrize("public", [None, TITLES])
def test_caps_are_in_the_order_of_size(public):
    plan = source(cap=[600, 5, 60], public_items=public).plan(sl.TopK(2), **PRICE)
    assert plan.mechanism.caps == CAPS


WRONG_CAPS = {
    "one": ([60], ["cap=60", "2 to 20 numbers", "give one number"]),
    "none": ([], ["cap", "2 to 20 numbers"]),
    "the same": ([60, 60.0], ["2 to 20 numbers"]),
    "many": (list(range(1, 30)), ["2 to 20 numbers"]),
    "far apart": ([1, 20_000], ["10,000 times the smallest"]),
    "no number": ([60, "much"], ["cap", "much", "must be a number"]),
    "nothing": ([0, 60], ["cap=0", "must be a number"]),
    "text": ("60,600", ["cap", "60,600", "must be a number"]),
}


@pytest.mark.parametrize("what", WRONG_CAPS)
def test_caps_without_a_choice_are_refused(what):
    caps, said = WRONG_CAPS[what]
    refusal(lambda: source(cap=caps), *said)


def test_rows_held_against_each_cap_are_seen(monkeypatch):
    """Planted: what is above a cap are rows, of which one user may have any number."""
    rows = ROWS.filter(pl.col("user") < 1).vstack(ROWS.filter(pl.col("title") == "Dune"))
    wants = Wants(UserSets, caps=(0.1, 0.5, 1.0))

    def above(frame):
        with source(frame, cap=CAPS)._engine.show(wants, ExactDraws(SeededBits(1))) as shown:
            return shown.evidence.above(30).tolist()

    whole = above(rows)
    split = rows.with_columns(pl.col("minutes") / 4)
    assert above(pl.concat([split] * 4)) == whole
    right = UserAmounts.of_rows

    def by_row(users, _items, steps, **sizes):
        alone = np.arange(len(users), dtype=np.uint32)
        return right(users, alone, steps, **sizes | {"n_items": len(users)})

    monkeypatch.setattr(UserAmounts, "of_rows", by_row)
    assert above(pl.concat([split] * 4)) != whole
