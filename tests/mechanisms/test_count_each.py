"""Counts of all items of a public list: their noise, their intervals, and what one user changes."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from helpers.losses import hockey_stick, neighbours
from helpers.noisy_counts import squared_mu
from helpers.planted import PLANTS
from helpers.refusals import refusal
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.draws.reach import reach_of_rounded
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import Accounting, CountEach

LISTS = [(n, m) for n in (1, 2, 5, 30) for m in (None, 1, 3)]
EDGES = -0.5, 0.5, 1.5, 2.5

every_list = pytest.mark.parametrize(("n_items", "promised"), LISTS)


def changed(mechanism):
    return min(mechanism.n_items, mechanism.max_items_per_user or mechanism.n_items)


@every_list
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_laplace_noise_hides_all_that_one_user_changes(n_items, promised, epsilon):
    mechanism = CountEach(n_items=n_items, epsilon=epsilon, max_items_per_user=promised)
    assert mechanism.count_noise == "Laplace"
    least = changed(mechanism) / Fraction(epsilon)
    assert least <= Fraction(mechanism._best.noise.scale) <= least * (1 + Fraction(1, 2**40))
    assert mechanism.cost.delta(epsilon) == 0
    assert mechanism.spent_delta == 0
    assert math.isclose(mechanism.cost.rho, epsilon**2 / changed(mechanism) / 2)


@every_list
def test_normal_noise_hides_all_that_one_user_changes(n_items, promised):
    mechanism = CountEach(
        n_items=n_items,
        epsilon=1.0,
        delta=1e-6,
        max_items_per_user=promised,
        accounting=Accounting.ZCDP,
    )
    assert mechanism.count_noise == "Normal"
    moved = squared_mu(mechanism._best, k=n_items, m=changed(mechanism))
    rho = Fraction(mechanism.cost.rho)
    assert rho * (1 - Fraction(1, 2**20)) <= moved / 2 <= rho
    assert 0.999e-6 < mechanism.cost.delta(1.0) <= 1e-6


@every_list
def test_the_smaller_noise_is_taken_by_public_parameters(n_items, promised):
    given = {"n_items": n_items, "epsilon": 1.0, "max_items_per_user": promised}
    pure, either = CountEach(**given), CountEach(**given, delta=1e-6)
    normal = CountEach(**given, delta=1e-6, accounting=Accounting.ZCDP)
    assert either.count_sd == min(pure.count_sd, normal.count_sd)
    assert either.spent_delta == (0 if either.count_noise == "Laplace" else 1e-6)
    assert any("No use is made" in line for line in either.explain()) == (not either.spent_delta)


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_an_interval_holds_as_often_as_is_said(delta):
    mechanism, n = CountEach(n_items=12, epsilon=2.0, delta=delta), 3000
    assert mechanism.count_noise == ("Normal" if delta else "Laplace")
    counts, draws = np.array([0, 1, 50, 9_000] * 3), ExactDraws(SeededBits(1))
    off = np.array([mechanism.select(PublicCounts(counts), draws).scores for _ in range(n)])
    off = np.abs(off - counts)
    reach = reach_of_rounded(mechanism.count_noise, mechanism.count_sd)
    often = (off <= reach).mean(axis=0)
    error = math.sqrt(0.05 * 0.95 / n)
    assert (often > 0.95 - 4.5 * error).all()
    assert ((1.3 * off <= reach).mean(axis=0) < 0.95 - 4.5 * error).all()


def test_all_items_stand_as_they_were_asked_for():
    draws = ExactDraws(SeededBits(1))
    told = CountEach(n_items=4, epsilon=3.0).select(PublicCounts(np.array([0, 90, 5, 0])), draws)
    assert told.positions.tolist() == [0, 1, 2, 3]
    assert (told.scores == np.round(told.scores)).all()


def test_it_refuses_what_it_does_not_account_for():
    draws = ExactDraws(SeededBits(1))
    bounded = CountEach(n_items=3, epsilon=1.0, max_items_per_user=2)
    for bound in (None, 3):
        loose = PublicCounts(np.zeros(3, np.int64), bound)
        refusal(lambda seen=loose: bounded.select(seen, draws), "bound it at 2")
    with pytest.raises(ValueError, match="more counts than"):
        bounded.select(PublicCounts(np.zeros(4, np.int64), 2), draws)
    refusal(lambda: CountEach(n_items=10**8, epsilon=1e-6), "all noise")


# --- exact laws, of users who may have many rows of one item


def counted_in(rows):
    """The number of users who hold each of two items."""
    return [len({user for user, item in rows if item == at}) for at in (0, 1)]


def counted_by_rows(rows):
    return [sum(item == at for _, item in rows) for at in (0, 1)]


def rows_of(data):
    """Three rows for each item that a user holds."""
    return [(user, item) for user, held in enumerate(data) for item in held for _ in range(3)]


def worst(mechanism, count):
    """The largest excess of delta over what the cost says, of all small neighbours."""

    def output(data):
        evidence = PublicCounts(np.array(count(rows_of(data)), np.int64))
        return law(lambda draws: tuple(mechanism.select(evidence, draws).scores), EDGES)

    return max(
        hockey_stick(p, q, epsilon) - mechanism.cost.delta(epsilon)
        for pair in neighbours(range(2), users=3)
        for p, q in itertools.permutations(map(output, pair))
        for epsilon in (0.5, 1.0, 2.0)
    )


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_it_is_private_on_all_small_tables(delta):
    mechanism = CountEach(n_items=2, epsilon=1.0, delta=delta)
    assert worst(mechanism, counted_in) < 1e-9


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_a_user_who_counts_once_per_row_is_seen(delta):
    mechanism = CountEach(n_items=2, epsilon=1.0, delta=delta)
    assert worst(mechanism, counted_by_rows) > 0.05


@pytest.mark.parametrize("plant", [p for p in PLANTS if p.mechanisms == ("count-each",)], ids=str)
def test_planted_mistakes_are_seen(plant):
    with plant.apply() as reached:
        found = worst(CountEach(n_items=2, epsilon=1.0), counted_in)
    assert reached.times
    assert found > 0.001
