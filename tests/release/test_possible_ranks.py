"""Ranks that listed items may have: all right together as often as is said."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from helpers.exhaustive import exhaustive
from helpers.releases import counted
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws, Order
from shortlist.draws.noise import Laplace, Normal
from shortlist.release import Scores
from shortlist.release._possible_ranks import often_in_each, possible_ranks, spread_of_noise

RUNS = 4000
SPREAD = math.sqrt(0.95 * 0.05 / RUNS)


@pytest.mark.parametrize("n", [2, 3, 20, 100])
def test_how_far_normal_noise_lies_apart_is_the_studentized_range(n):
    from scipy.stats import studentized_range

    exact = studentized_range.ppf(0.95, n, np.inf)
    assert exact <= spread_of_noise(n, "Normal") <= 1.002 * exact


@pytest.mark.parametrize("n", [2, 20, 1000])
def test_how_far_laplace_noise_lies_apart(n):
    drawn = np.random.default_rng(n).laplace(scale=math.sqrt(0.5), size=(4000, n))
    within = np.mean(np.ptp(drawn, axis=1) <= spread_of_noise(n, "Laplace"))
    assert abs(within - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 4000)


def test_one_item_has_one_rank_and_none_have_none():
    assert possible_ranks([5.0], 3.0, "Normal") == ([1], [1])
    assert possible_ranks([], 3.0, "Normal") == ([], [])


def by_hand(counts, own_sd, law):
    """Pair by pair."""
    apart = spread_of_noise(len(counts), law) * own_sd + 1
    best = [1 + sum(other - one > apart for other in counts) for one in counts]
    worst = [len(counts) - sum(one - other > apart for other in counts) for one in counts]
    return best, worst


def test_it_is_what_pair_by_pair_gives():
    counts = np.random.default_rng(1).integers(0, 200, 60).astype(float).tolist()
    for law in ("Normal", "Laplace"):
        assert possible_ranks(counts, 8.0, law) == by_hand(counts, 8.0, law)


def drawn(truth, noise, shared, runs):
    draws = ExactDraws(SeededBits(3))
    order = Order(np.array(truth), [noise], shared=shared, unit=1.0, digits=0)
    return [draws.order(order).by_position() for _ in range(runs)]


def all_right(truth, values, own_sd, law):
    """Whether no item is said to be ahead of one that as many or more users hold."""
    truth = np.array(truth)
    best, worst = possible_ranks(values, own_sd, law)
    ahead = np.array([(truth > one).sum() for one in truth])  # ties may be in any order
    behind = np.array([(truth < one).sum() for one in truth])
    return (np.array(best) <= 1 + ahead).all() and (np.array(worst) >= len(truth) - behind).all()


def often(truth, noise, *, shared=None, wrong=1.0, runs=RUNS):
    name = "sd" if isinstance(noise, Normal) else "scale"
    louder = replace(noise, **{name: getattr(noise, name) * wrong})
    stated = math.hypot(noise.rounded_sd, shared.sd if shared else 0.0)
    shared_sd = shared.sd if shared else None
    own = Scores([1.0], unit="noisy count", noise_sd=stated, shared_sd=shared_sd).own_sd
    law = type(noise).__name__
    told = drawn(truth, louder, shared, runs)
    return np.mean([all_right(truth, values, own, law) for values in told])


ALIKE, APART = (50, 50, 50, 50), (90, 60, 60, 2)


@pytest.mark.parametrize(
    ("truth", "noise", "shared"),
    [
        (ALIKE, Normal(9.0), None),
        (ALIKE, Normal(9.0), Normal(7.0)),
        (ALIKE, Laplace(6.0), None),
        *exhaustive((APART, Normal(9.0), None), (ALIKE, Normal(0.2), None)),
    ],
)
def test_all_ranks_are_right_together_as_often_as_is_said(truth, noise, shared):
    assert often(truth, noise, shared=shared) > 0.95 - 4 * SPREAD


def test_items_of_as_many_users_are_told_apart_as_seldom_as_is_said():
    assert often(ALIKE, Normal(20.0)) < 0.97


@pytest.mark.parametrize("noise", [Normal(9.0), Laplace(6.0)])
def test_noise_that_is_more_than_stated_is_noticed(noise):
    assert often(ALIKE, noise, wrong=1.3, runs=RUNS // 4) < 0.95 - 8 * SPREAD


def test_intervals_of_each_by_itself_would_be_wrong_more_often(monkeypatch):
    """The planted mistake: what two items need to be told apart, for all pairs of many."""
    many = (50,) * 20
    assert often(many, Normal(9.0), runs=RUNS // 4) > 0.95 - 8 * SPREAD
    monkeypatch.setattr(
        "shortlist.release._possible_ranks.spread_of_noise",
        lambda _, law, often: spread_of_noise(2, law, often),
    )
    assert often(many, Normal(9.0), runs=RUNS // 4) < 0.7


def test_ranks_of_groups_are_those_within_each():
    scores = Scores([900.0, 100.0, 95.0, 800.0, 5.0], unit="noisy count", noise_sd=5.0)
    items = {"place": ["a", "a", "a", "b", "b"], "title": list("vwxyz")}
    frame = counted(items, scores=scores, by=["place"]).to_polars()
    assert frame.select("rank_low", "rank_high").rows() == [(1, 1), (2, 3), (2, 3), (1, 1), (2, 2)]
    assert frame.schema["rank_low"] == pl.UInt32


def test_clipped_counts_say_nothing_of_ranks():
    assert "rank_low" not in counted(["a"], unit="noisy clipped count").to_polars().columns


# Many groups

GROUPS = 20


def chance_that_all_groups_are_right(runs=500):
    """Of twenty groups of three items that as many users hold, each run with new noise."""
    items = {"place": np.repeat(np.arange(GROUPS), 3), "title": [*"xyz"] * GROUPS}
    rng, right = np.random.default_rng(17), 0
    for _ in range(runs):
        counts = rng.normal(500, 9, 3 * GROUPS).round()
        scores = Scores(counts, unit="noisy count", noise_sd=math.hypot(9, 0.3))
        told = counted(items, scores=scores, by=["place"]).to_polars()
        right += bool((told["rank_low"] == 1).all() and (told["rank_high"] == 3).all())
    return right / runs


def test_the_ranks_of_all_groups_are_right_together_as_often_as_is_said():
    """Where all are tied, which is the worst: not less often, and hardly more often."""
    error = math.sqrt(0.95 * 0.05 / 500)
    assert 0.95 - 3 * error < chance_that_all_groups_are_right() < 0.97 + 3 * error


def test_what_each_group_alone_needs_is_too_little_for_all(monkeypatch):
    """The planted mistake: twenty groups, each right in 95 of 100 cases."""
    monkeypatch.setattr("shortlist.release._possible_ranks.often_in_each", lambda _: 0.95)
    assert chance_that_all_groups_are_right(200) < 0.6


def test_the_ranks_of_a_part_hold_for_its_group_alone():
    """Twenty parts compared by hand are not right together; each is, as often as is said."""
    rng, right = np.random.default_rng(18), []
    items = {"place": np.repeat(np.arange(GROUPS), 3), "title": [*"xyz"] * GROUPS}
    for _ in range(200):
        scores = Scores(rng.normal(500, 9, 3 * GROUPS).round(), unit="noisy count", noise_sd=9.0)
        parts = [
            part.to_polars() for _, part in counted(items, scores=scores, by=["place"]).groups()
        ]
        right.append(
            [(part["rank_high"] == 3).all() and (part["rank_low"] == 1).all() for part in parts]
        )
    assert np.mean(right) > 0.94
    assert np.mean(np.all(right, axis=1)) < 0.6


@pytest.mark.parametrize("groups", [10**4, 10**6])
def test_how_far_two_draws_lie_apart_in_very_many_groups(groups):
    """The difference of two Laplace draws of scale 1 is beyond d with (1 + d/2) exp(-d)."""
    spread = spread_of_noise(2, "Laplace", often_in_each(groups)) * math.sqrt(2)
    beyond = (1 + spread / 2) * math.exp(-spread)
    assert 0.96 * 0.05 / groups < beyond <= 0.05 / groups
