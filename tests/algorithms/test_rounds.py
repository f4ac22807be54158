"""Set union in rounds: what users add, what an item is worth, and what is out for good."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import kernels
from shortlist.algorithms.rounding_grids import coarse_grid, fine_grid
from shortlist.algorithms.rounds import Rounds
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import AdaptiveGaussian

ONE = 2**20  # a weight of 1
FLOOR = Fraction(4, 25)


def rounds_of(**given):
    mechanism = AdaptiveGaussian(
        **{"epsilon": 1.0, "delta": 1e-5, "max_items_per_user": 100, "rounds": 4} | given
    )
    return Rounds(
        mechanism._plan, mechanism.sigma, mechanism._limits, fine_grid(mechanism.sigma), 1.5
    )


def held_by(*users, n_items):
    rows = [(u, item) for u, items in enumerate(users) for item in items]
    columns = np.array(rows, np.uint32).reshape(-1, 2).T.copy()
    return Contributions.of_rows(*columns, n_users=len(users), n_items=n_items)


def added(rounds, boosts, n_items):
    """What one user of all these items adds, in units."""
    held = held_by(range(n_items), n_items=n_items)
    left, kept = held.sizes.copy(), np.empty_like(held.items)
    tables = np.array(boosts, np.int16), rounds._floors(n_items), rounds._caps(n_items)
    sums = held.added_up(kernels.steer, left, kept, *tables)
    assert kept[: left[0]].tolist() == [i for i in range(n_items) if boosts[i] >= 0]
    return sums


boosts = st.lists(st.sampled_from([-1, 0, 1, 2, 700, 2047, 2048]), min_size=1, max_size=7)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(boosts=boosts)
def test_every_subset_of_a_user_s_items_leaves_its_floor_to_the_others(boosts):
    """The condition of the theorem, in whole numbers, for each set N of items not yet found."""
    d = len(boosts)
    squares = [int(x) ** 2 for x in added(rounds_of(), boosts, d)]
    left = [i for i in range(d) if boosts[i] >= 0]
    assert all(squares[i] == 0 for i in range(d) if boosts[i] < 0)
    for n in range(len(left) + 1):
        for novel in itertools.combinations(left, n):
            others = sum(squares[i] for i in range(d) if i not in novel)
            assert others <= ONE**2 * (1 - FLOOR * n / d)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(boosts=boosts)
def test_weights_are_those_of_the_definition_but_for_their_rounding(boosts):
    d, rounds = len(boosts), rounds_of()
    found = added(rounds, boosts, d) / ONE
    left = sum(b >= 0 for b in boosts)
    total = sum(b * b for b in boosts if b > 0)
    cap = math.sqrt(rounds._caps(d)[d]) / ONE
    for x, b in zip(found, boosts, strict=True):
        free = (1 - left * float(FLOOR) / d) * b * b / total if total else 0.0
        expected = min(cap, math.sqrt(float(FLOOR) / d + free)) if b >= 0 else 0.0
        assert x == pytest.approx(expected, abs=3e-6)
        assert x <= cap


def test_caps_and_floors_of_every_size_are_on_the_safe_side():
    rounds = rounds_of(max_items_per_user=5000)
    floors, caps = rounds._floors(5000), rounds._caps(5000)
    blocks = zip(rounds.limits.first, [*rounds.limits.first[1:], 5001], strict=True)
    for (first, after), cap in zip(blocks, rounds.limits.caps, strict=True):
        for d in range(int(first), int(after)):
            assert floors[d] >= FLOOR * ONE**2 / d > floors[d] - 1
            assert math.sqrt(caps[d]) <= cap * ONE
    assert rounds._even_weights(3).tolist()[1:] == [ONE, math.isqrt(2**39), math.isqrt(2**40 // 3)]


def test_where_a_user_s_items_stand_says_nothing():
    rounds, boosts = rounds_of(), [3, 2048, 0, 700, 1999]
    plain = added(rounds, boosts, 5).tolist()
    for order in itertools.permutations(range(5)):
        assert added(rounds, [boosts[i] for i in order], 5).tolist() == [plain[i] for i in order]


@pytest.mark.parametrize("r", [0, 1, 2])
@pytest.mark.parametrize("given", [{}, {"epsilon": 0.1}, {"epsilon": 8.0, "delta": 0.1}])
def test_the_table_of_boosts_is_the_formula(r, given):
    rounds = rounds_of(**given)
    step = rounds.grid.step / ONE / rounds.plan.whole
    done = sum(rounds.plan.parts[: r + 1]) / rounds.plan.whole
    last = rounds.limits.thresholds[-1]
    sums = np.linspace(min(-2 * last, last - 40 * rounds.sigma), 2 * abs(last) + 1, 4001)
    so_far = np.floor(sums / step).astype(np.int64)
    boosts = rounds._boosts(r, so_far) / 2**11
    needed = np.maximum((last - sums) / (1 - done), 0)
    spread = rounds.sigma * math.sqrt(1.5**2 / done + 1 / (1 - done))
    excess = np.maximum(needed - 1.5 * sums / done, 0) / spread
    with np.errstate(divide="ignore"):
        lacking = np.where(sums > 0, np.minimum(1, needed * done / sums), 1) * (needed > 0)
    assert np.abs(boosts - lacking * np.exp(-(excess**2) / 2)).max() < 2e-3
    assert boosts[sums >= last].max(initial=0) == 0


def test_what_is_below_the_grid_is_out_for_good():
    rounds = rounds_of()
    coarse = Rounds(*list(vars(rounds).values())[:3], coarse_grid(60.0), 1.5)
    dead = coarse._noisy(np.full(50, -(2**40)), 0, ExactDraws(SeededBits(1)))
    top = coarse.grid.highest
    parts = rounds.plan.parts
    most = parts[0] * dead + sum(parts[1:3]) * top
    assert (coarse._boosts(2, most) == 0).all()
    assert (most < coarse._bar(2)).all()
    assert coarse._last(most, np.full(50, 2**50)).approximate()[0].max() == 0.0


def test_items_that_many_hold_are_found_and_few_of_others():
    users = [[0, 1, 2 + u % 40] for u in range(400)]
    found = rounds_of().found(held_by(*users, n_items=42), ExactDraws(SeededBits(5)))
    assert set(found.items[:2].tolist()) == {0, 1}
    assert np.abs(found.first[:2] - 400 / math.sqrt(3)).max() < 60
    assert len(found.items) < 10


def test_nobody_and_one_user():
    for users in ([], [[]], [[0]]):
        found = rounds_of().found(held_by(*users, n_items=1), ExactDraws(SeededBits(5)))
        assert found.items.tolist() == []
