"""Twelve runs, too many for exact laws: what one user adds, and how often her own items pass."""

import math

import numpy as np
import pytest

from helpers.weeks import NotKept, NoUnion
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.series import SeriesTerms, State, Week

RUNS, SURE = 12, 4.5  # standard deviations: passed by chance once in 100,000 times


def after_all_runs(terms, rows, kind=Week):
    """The state after all runs, on the rows of each."""
    state, draws = State(), ExactDraws(SeededBits(12))
    for run in range(1, terms.runs + 1):
        state = kind(terms, state, *rows(run), draws).made()
    return state


def alone(users, items, *, late):
    """Each user holds items of her own; late ones come only in the second half."""
    pairs = np.repeat(np.arange(users), items), np.arange(users * items)
    first = pairs[1] % items >= late
    return lambda run: tuple(part[first] for part in pairs) if run <= RUNS // 2 else pairs


def share_named(kind, **more):
    """How many users have an item named that nobody else ever held, and the most who may."""
    terms = kind(epsilon=1.0, delta=0.1, periods=RUNS, max_items_per_user=3, **more)
    users = 4000
    state = after_all_runs(terms, alone(users, 3, late=1))
    named = np.unique(state.counted[state.named_in > 0] // 3).size / users
    most = SeriesTerms.lost.fget(terms)
    return named, most + SURE * math.sqrt(most * (1 - most) / users)


def test_what_one_user_alone_holds_is_hardly_ever_named():
    named, most = share_named(SeriesTerms)
    assert named <= most


def test_without_a_union_over_tests_it_is_named_too_often():
    named, most = share_named(NoUnion)
    assert named > 1.4 * most


def moved(kind, before):
    """How far one user more moves an item's sums along their direction, and by how much noise."""
    terms = SeriesTerms(epsilon=1.0, delta=1e-4, periods=RUNS, max_items_per_user=1)
    n_items, others = 20_000, 2
    pairs = np.arange(n_items * (others + 1)), np.arange(n_items * (others + 1)) % n_items
    comes = np.arange(len(pairs[0])) >= n_items * others  # of each item, the one user
    held = lambda run: pairs if run > before else tuple(part[~comes] for part in pairs)
    without = lambda _run: tuple(part[~comes] for part in pairs)
    sums = [after_all_runs(terms, rows, kind).sums / 2**20 for rows in (held, without)]
    steps = (sums[0] - sums[1]).mean(axis=0)  # the same noise on average: its own weights alone
    sd = terms.sigma * math.sqrt(2 / n_items)
    return float((steps**2).sum()), RUNS * sd**2 + SURE * math.sqrt(
        2 * RUNS
    ) * sd**2 + 2 * SURE * sd


@pytest.mark.parametrize("before", [0, 5, 11])
def test_all_that_one_user_adds_is_at_most_1(before):
    squares, noise = moved(Week, before)
    assert abs(squares - 1) <= noise


def test_an_account_that_is_not_kept_moves_sums_by_more():
    squares, noise = moved(NotKept, 0)
    assert squares > 1.4 * (1 + noise)
