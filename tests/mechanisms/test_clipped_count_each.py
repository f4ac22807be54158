"""Clipped counts of all items of a long public list: what they cost, and what they are."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.oracles import oracle_of
from helpers.planted import PLANTS
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.mechanisms import Accounting, ClippedCountEach, CountEach

LIST = [*range(1000, 1500), *range(20)]


@pytest.mark.parametrize("accounting", [Accounting.EXACT, Accounting.ZCDP])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-9), (3.0, 0.01)])
def test_nearly_all_of_the_budget_is_used_and_no_more(epsilon, delta, accounting):
    mechanism = ClippedCountEach(epsilon=epsilon, delta=delta, accounting=accounting)
    assert 0.99 * delta <= mechanism.cost.delta(epsilon) <= delta


def test_noise_grows_with_the_root_of_the_bound():
    mechanism = ClippedCountEach(epsilon=1.0, delta=1e-6)
    mu = Fraction(mechanism._priced.mu)
    for bound, sd in zip(mechanism.design.bounds, mechanism._sds, strict=True):
        assert bound <= (Fraction(sd) * mu) ** 2 <= bound * (1 + Fraction(1, 2**40))
    refusal(lambda: ClippedCountEach(epsilon=1e-9, delta=1e-12), "epsilon=")
    refusal(lambda: ClippedCountEach(epsilon=1.0), "delta is needed", "add delta=1e-6")


def test_of_a_long_list_of_which_users_hold_few_it_has_less_noise():
    rows = [(user, user % 20) for user in range(20_000)]
    frame = pl.DataFrame(rows, schema=["user", "item"], orient="row")
    source = sl.pairs(frame, user="user", item="item")
    ask = {"epsilon": 1.0, "delta": 1e-6, "random": SeededBits(1)}
    release = source.user_counts(LIST, mechanism=ClippedCountEach, **ask)
    assert release.items == LIST
    assert release.to_polars().columns == ["item", "clipped_count", "count_low"]
    exact = np.array([1000 * (item < 20) for item in LIST])
    assert np.abs(np.array(release.scores) - exact).max() < 6 * release.scores.noise_sd
    assert (release.to_polars()["count_low"].to_numpy() <= exact).mean() > 0.93
    assert release.scores.noise_sd < CountEach(n_items=520, epsilon=1.0, delta=1e-6).count_sd / 5
    assert "least number" in release.explain()
    assert sl.pairs(frame, user="user", item="item").of_items(LIST).mechanisms_for(
        sl.UserCounts()
    ) == [ClippedCountEach, CountEach]


def test_the_noise_of_half_a_bound_is_seen():
    (plant,) = [p for p in PLANTS if p.name.startswith("the noise of a clipping bound of a list")]
    oracle = oracle_of(ClippedCountEach)
    right = oracle.build(ClippedCountEach, k=None)
    with plant.apply() as reached:
        found = oracle.breaks(oracle.build(ClippedCountEach, k=None), right.cost, by=1e-3)
    assert reached.times
    assert found
