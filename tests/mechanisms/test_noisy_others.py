"""What is not in a list: what is counted, mistakes, intervals, and how it is asked for."""

import json
import math
from functools import partial

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.hitting import contributions
from helpers.oracles import ORACLES, with_others
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.draws import UNIT, ExactDraws, Order
from shortlist.mechanisms import (
    Accounting,
    AdaptiveTopK,
    ChosenBound,
    Gamma,
    Peeling,
    UserPeeling,
    WeightedGaussian,
)
from shortlist.mechanisms.wrappers import NoisyCounts, NoisyOthers
from shortlist.mechanisms.wrappers.noisy_others import _weights, _without
from shortlist.questions import OTHERS_SHARE, Domain, TopK
from shortlist.release._others import Others

ORACLE = ORACLES[NoisyOthers]
PRICE = {"epsilon": 1.0, "delta": 1e-6}


@pytest.mark.parametrize("most", [1, 2, 3, 10**30])
@pytest.mark.parametrize("named", [[], [0], [2, 1], [3], [0, 1, 2, 3]])
def test_users_and_pairs_are_counted_by_their_definition(most, named):
    held = [{0, 1, 2}, {1, 2}, {2}, {3}, set(), {0}]
    numbers = _without(contributions(held, 4), np.array(named, np.int64), most) * UNIT
    listed = set(named)
    assert numbers[0] == sum(bool(h) and not h & listed for h in held)
    for number, kept in zip(numbers[1:], (set.intersection, set.difference), strict=True):
        expected = sum(len(kept(h, listed)) / max(len(h), most, 1) for h in held)
        assert number == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("most", [1, 3, 7, 100, 2**40])
def test_all_pairs_of_a_user_are_at_most_one_after_rounding(most):
    sizes = np.arange(1, 5000)
    weights = _weights(most, 4999)[1:]
    assert (sizes * weights * UNIT <= np.minimum(sizes / most, 1)).all()


class EachPairWhole(NoisyOthers):
    """The pairs of a user who holds more than D count for more than D."""

    def select(self, evidence, draws):
        selection = self.selection.select(evidence, draws)
        held, named = evidence.recount().counts, selection.positions
        numbers = _without(evidence, named, self.max_pairs_per_user)
        pairs = np.array([held[named].sum(), held.sum() - held[named].sum()])
        numbers[1:] = pairs * round(1 / UNIT) // self.max_pairs_per_user
        noisy = draws.order(Order(numbers, [self._best.noise], digits=0))
        return selection._replace(others=noisy.by_position())


class ForPairsAlone(NoisyOthers):
    """Noise for a user who changes the pairs and not the number of users, too."""

    @property
    def _changed(self):
        return 1


@pytest.mark.parametrize(("kind", "k"), [(EachPairWhole, 2), (ForPairsAlone, 1)])
def test_mistakes_break_the_claim(kind, k):
    right, wrong = (with_others(made, k=k) for made in (NoisyOthers, kind))
    assert ORACLE.breaks(wrong, right.cost, by=1e-3)


def test_the_noise_does_not_grow_with_the_list_and_that_of_pairs_with_the_bound():
    def made(k, most):
        kind = partial(AdaptiveTopK, k=k, max_items_per_user=10)
        return NoisyOthers.of(
            lambda epsilon, delta: kind(epsilon=epsilon, delta=delta),
            count_share=OTHERS_SHARE,
            max_pairs_per_user=most,
            **PRICE,
        )

    few, many = made(5, 10), made(50, 20)
    assert many.users_sd < 1.3 * few.users_sd
    assert many.pairs_sd == 20 * many.users_sd


# Intervals

RUNS = 2000


def often(mechanism, numbers, stated=1.0, runs=RUNS):
    """How often the intervals hold the number of users, and the share of pairs."""
    exact = np.tile(np.round(np.array(numbers) / UNIT).astype(np.int64), runs)
    asked = Order(exact, [mechanism._best.noise], digits=0)
    drawn = ExactDraws(SeededBits(7)).order(asked).by_position().reshape(runs, 3)
    told = mechanism.parameters() | {"users_sd": stated * mechanism.users_sd}
    share = numbers[1] / (numbers[1] + numbers[2])
    users = shares = 0
    for noisy in drawn.tolist():
        others = Others.of(noisy, told)
        _, least, most = others.users_without
        _, low, high = others.coverage
        users += least <= numbers[0] <= most
        shares += low <= share <= high
    return users / runs, shares / runs


def pure(share):
    return NoisyOthers.of(
        lambda epsilon, _: UserPeeling(k=2, epsilon=epsilon),
        epsilon=1.0,
        delta=0.0,
        count_share=share,
        max_pairs_per_user=5,
    )


def normal():
    return NoisyOthers.of(
        lambda epsilon, delta: AdaptiveTopK(
            k=5, max_items_per_user=10, epsilon=epsilon, delta=delta
        ),
        count_share=OTHERS_SHARE,
        max_pairs_per_user=10,
        **PRICE,
    )


DIFFERENCE = 4 * math.sqrt(0.95 * 0.05 / RUNS)


@pytest.mark.parametrize(
    "numbers", [(300, 900, 600), (0, 30.5, 1000), (40, 60, 0.25)], ids=["most", "few", "nearly all"]
)
@pytest.mark.parametrize(("build", "law"), [(normal, "Normal"), (partial(pure, 0.3), "Laplace")])
def test_the_intervals_hold_as_often_as_they_say(build, law, numbers):
    mechanism = build()
    assert mechanism.others_noise == law
    users, shares = often(mechanism, numbers)
    assert min(users, shares) > 0.95 - DIFFERENCE
    assert users < 0.985


def test_intervals_of_too_little_noise_are_seen():
    users, shares = often(normal(), (300, 900, 600), stated=1 / 1.4)
    assert max(users, shares) < 0.95 - 2 * DIFFERENCE


def of(covered, left, sd=10.0):
    return Others(users=3, covered=covered, left=left, most_pairs=5, sd=sd, law="Normal").coverage


def test_the_share_is_one_however_the_noise_fell():
    assert of(0, 0) == (0.5, 0.0, 1.0)
    assert of(-4, -9) == (0.5, 0.0, 1.0)
    assert of(20, 5) == (0.8, 0.0, 1.0)
    share, low, high = of(-40, 1000)
    assert (share, low) == (0.0, 0.0)
    assert high < 0.001
    assert of(1000, -10)[2] == 1.0
    wide, narrow = of(600, 400, sd=50), of(600, 400, sd=5)
    assert wide[1] < narrow[1] < 0.6 < narrow[2] < wide[2]


# As it is asked for


def rows():
    held = [(user, f"title {i}") for i, n in enumerate((900, 700, 500)) for user in range(n)]
    held += [(user, f"rare {user}") for user in range(800, 1100)]
    users, titles = zip(*held, strict=True)
    return {"user": [*users], "title": [*titles], "country": ["NO"] * len(users)}


def source(**given):
    return sl.pairs(rows(), user="user", item="title", **given)


TRUE_USERS, TRUE_SHARE = 200, 2100 / 2400


@pytest.mark.parametrize(
    "question",
    [
        TopK(3, others=True),
        TopK(3, others=True, noisy_counts=True),
        Domain(others=True),
        pytest.param(Domain(others=True, noisy_counts=True), marks=pytest.mark.exhaustive),
    ],
    ids=["top-k", "top-k with counts", "domain", "domain with counts"],
)
def test_it_says_how_much_is_not_listed(question):
    answer = source(max_items_per_user=3).plan(question, **PRICE).run(SeededBits(3))
    assert sorted(answer.items) == ["title 0", "title 1", "title 2"]
    users, least, most = answer.others.users_without
    share, low, high = answer.others.coverage
    assert abs(users - TRUE_USERS) < 5 * answer.others.sd
    assert (least, most) != (users, users)
    assert low - 0.1 <= TRUE_SHARE <= high + 0.1
    for text in (str(answer), answer.explain(), answer.to_markdown()):
        told = " ".join(text.split())
        assert f"{least:,} to {most:,}" in told
        assert f"{share:.1%}" in told
    assert not [name for name in answer.to_polars().columns if "other" in name]


def test_a_report_and_a_file_say_it_too(tmp_path):
    answer = source().top_k(2, others=True, **PRICE)
    answer.report(tmp_path / "x.html")
    assert "How much is not in the list?" in (tmp_path / "x.html").read_text()
    for suffix in ("json", "parquet"):
        answer.save(tmp_path / f"x.{suffix}")
        assert sl.load(tmp_path / f"x.{suffix}") == answer
    said = json.loads(answer.to_json())
    assert list(said["others"]) == [
        *("users_without", "users_without_low", "users_without_high"),
        *("pairs_covered", "pairs_left", "coverage", "coverage_low", "coverage_high"),
    ]
    assert said["others"]["pairs_covered"] % 100 == 0
    assert "others" not in json.loads(source().top_k(2, **PRICE).to_json())


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said.pop("others"),
        lambda said: said["others"].pop("pairs_left"),
        lambda said: said["others"].update(pairs_left=1.5),
        lambda said: said["others"].update(coverage_low=0.1),
        lambda said: said["others"].update(users_without="many"),
        lambda said: said["mechanism"]["parameters"].update(users_sd=0),
    ],
)
def test_a_file_that_was_changed_is_refused(tmp_path, change):
    said = source().top_k(2, others=True, **PRICE).to_dict()
    change(said)
    path = tmp_path / "x.json"
    path.write_text(json.dumps(said))
    refusal(lambda: sl.load(path), "cannot load")


def test_rows_in_an_engine_are_counted_where_they_lie():
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("ibis")
    table = duckdb.connect().from_arrow(pl.DataFrame(rows()).to_arrow())
    plays = sl.pairs(table, user="user", item="title", max_items_per_user=3)
    with pytest.warns(sl.WeakPrivacyWarning):
        others = plays.top_k(3, epsilon=100.0, delta=1e-6, others=True).others
    assert abs(others.users - TRUE_USERS) < 8 * others.sd
    assert abs(others.coverage[0] - TRUE_SHARE) < 0.01


def test_a_ledger_charges_it_and_gives_it_again(tmp_path):
    of = {"dataset": "plays", "protects": "user"}
    budget = sl.Budget.create(tmp_path / "x.budget", epsilon=3.0, delta=1e-5, **of)
    plan = source(budget=budget).plan(TopK(2, others=True), **PRICE)
    assert plan.mechanism.selection.accounting is Accounting.ZCDP
    answer = plan.run()
    again = plan.run(reuse=sl.Reuse.CHANGED_DATA)
    assert again.given_before is not None
    assert again.others == answer.others


def test_what_a_floor_leaves_out_is_not_listed():
    answer = source(max_items_per_user=3).top_k(3, min_users=600, others=True, **PRICE)
    assert set(answer.items) == {"title 0", "title 1"}
    assert abs(answer.others.coverage[0] - 1600 / 2400) < 0.15


def test_nothing_is_named_and_all_users_are_left():
    answer = sl.pairs({"user": [1, 2], "title": ["a", "b"]}, user="user", item="title").domain(
        others=True, **PRICE
    )
    assert len(answer) == 0
    assert answer.others.coverage[1:] == (0.0, 1.0)


def test_it_takes_a_twentieth_around_what_would_answer_anyway():
    plan = source().plan(TopK(2, others=True), **PRICE)
    assert (type(plan.mechanism), plan.mechanism.count_share) == (NoisyOthers, OTHERS_SHARE)
    assert plan.mechanism.max_pairs_per_user == 100
    assert type(plan.mechanism.selection) is AdaptiveTopK
    assert plan.mechanism.selection.epsilon == pytest.approx(0.95)
    assert "hold none of its items" in plan.explain()
    counts = source().plan(TopK(2, noisy_counts=True, others=True), **PRICE).mechanism
    assert type(counts.selection) is NoisyCounts
    domain = source(max_items_per_user=7).plan(Domain(others=True), **PRICE).mechanism
    assert domain.max_pairs_per_user == 7
    chosen = source().plan(Domain(others=True), **PRICE).mechanism
    assert type(chosen.selection) is ChosenBound
    assert plan.to_dict()["question"]["others"] is True
    assert "others" not in source().plan(TopK(2), **PRICE).to_dict()["question"]


REFUSED = {
    "groups": lambda: source().top_k(2, by="country", others=True, **PRICE),
    "a domain in groups": lambda: source().grouped("country").plan(Domain(others=True), **PRICE),
    "public items": lambda: source(public_items=["title 0"]).top_k(1, others=True, **PRICE),
    "counts": lambda: sl.counts(
        {"title": ["a"], "n": [9]}, item="title", count="n", max_items_per_user=3
    ).plan(TopK(1, others=True), **PRICE),
    "weights": lambda: source().domain(mechanism=WeightedGaussian, others=True, **PRICE),
}


@pytest.mark.parametrize("ask", REFUSED.values(), ids=REFUSED.keys())
def test_what_does_not_tell_who_holds_what_is_refused_before_the_charge(ask):
    refusal(ask, "others=True", "omit it")


def test_wrong_arguments_are_refused():
    refusal(lambda: TopK(2, others="yes"), "others=", "True or False")
    tiny = {"epsilon": 1.0001, "delta": 0.0, "count_share": 0.01, "max_pairs_per_user": 2**32}
    users = UserPeeling(k=2, epsilon=1.0)
    refusal(lambda: NoisyOthers(selection=users, **tiny), "all noise")
    for other in (Peeling(k=2, epsilon=1.0), Gamma(k=2, epsilon=1.0)):
        refusal(lambda other=other: NoisyOthers(selection=other, **tiny), "users' sets of items")


def test_a_wrong_noise_is_refused_when_a_release_is_made():
    with pytest.raises(ValueError, match="must be known"):
        Others.of([1, 2, 3], {})
    with pytest.raises(ValueError, match="must be numbers"):
        Others.of([1, 2, math.inf], normal().parameters())
