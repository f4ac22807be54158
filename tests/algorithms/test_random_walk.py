"""The walk from losers to winners: its matrix, its stationary distribution and what moves it."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers import walks
from helpers.refusals import refusal
from shortlist.algorithms.random_walk import Walk, is_connected
from shortlist.evidence import Outcomes
from shortlist.experiments import (
    bradley_terry,
    ergodicity_coefficient,
    outcomes_of,
    spectral,
    spectral_scores,
    transition_matrix,
)

fixed = settings(derandomize=True, deadline=None, max_examples=80)


def played(weights, *, edge_probability=1.0, times=1, seed=1):
    games = bradley_terry(weights, edge_probability=edge_probability, times=times, seed=seed)
    return outcomes_of(games, len(weights))


# --- what it is made of


def test_rows_are_counted_by_pair():
    won, lost = np.array([2, 0, 2, 0, 1]), np.array([0, 2, 0, 1, 0])
    seen = Outcomes.of_rows(won, lost, 4, 7)
    assert seen.first.tolist() == [0, 0]
    assert seen.second.tolist() == [1, 2]
    assert seen.times.tolist() == [2, 3]
    assert seen.wins.tolist() == [1, 1]
    assert seen.degrees.tolist() == [2, 1, 1, 0]
    assert (seen.n_items, seen.max_comparisons_per_user) == (4, 7)
    for n in (0, 3):
        nothing = Outcomes.of_rows(won[:0], lost[:0], n)
        assert nothing.degrees.tolist() == [0] * n
        assert len(nothing.times) == 0


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint64])
def test_rows_of_any_integers_are_counted_alike(dtype):
    rng = np.random.default_rng(1)
    won = rng.integers(0, 100, 500)
    lost = (won + rng.integers(1, 100, 500)) % 100
    one, other = (
        Outcomes.of_rows(won.astype(kind), lost.astype(kind), 100) for kind in (np.int64, dtype)
    )
    for name in ("first", "second", "times", "wins"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()
        assert getattr(other, name).dtype == np.int64


@pytest.mark.parametrize(
    ("won", "lost"),
    [
        ([0, 3], [1, 1]),
        ([0, 1], [1, 3]),
        ([-1], [1]),
        ([2**63], [1]),
        ([0, 1], [1, 1]),
        ([0, 1], [1]),
        ([0.0], [1.0]),
        ([True], [False]),
        ([[0]], [[1]]),
    ],
)
def test_rows_of_other_things_are_refused(won, lost):
    refusal(lambda: Outcomes.of_rows(np.array(won), np.array(lost), 3), "winners and losers: must")


@fixed
@given(seen=walks.graphs(), more=st.integers(0, 3))
def test_the_transition_matrix_is_its_definition(seen, more):
    degree = int(seen.degrees.max()) + more
    matrix = transition_matrix(seen, degree)
    exact = np.array(walks.transitions(seen, degree), dtype=float)
    assert np.abs(matrix - exact).max() < 1e-15
    assert (matrix >= 0).all()
    assert np.abs(matrix.sum(axis=1) - 1).max() < 1e-15
    if more == 0:
        assert (transition_matrix(seen) == matrix).all()


def test_a_degree_that_is_too_small_is_refused():
    seen = walks.complete(4, 1, [1] * 6)
    refusal(lambda: transition_matrix(seen, 2), "degree=2: an item was compared with 3 others")


# --- the stationary distribution


@fixed
@given(seen=walks.graphs(), more=st.integers(0, 3))
def test_it_agrees_with_fractions(seen, more):
    exact = walks.stationary(walks.transitions(seen, int(seen.degrees.max()) + more))
    assume(exact is not None)
    gap = float(1 - walks.tau(walks.transitions(seen, int(seen.degrees.max()))))
    near = 1e-12 if gap > 0.01 else 1e-9
    assert np.abs(spectral_scores(seen) - np.array(exact, dtype=float)).sum() < near


@fixed
@given(seen=walks.graphs(), steps=st.integers(0, 30), more=st.integers(0, 3))
def test_the_residual_is_a_bound(seen, steps, more):
    degree = int(seen.degrees.max()) + more
    walk = Walk.of(seen, degree)
    whole = walk.stationary(tolerance=0.0, steps=steps)
    assert int(whole.sum()) == 2**60
    assert whole.min() >= 0
    matrix = walks.transitions(seen, degree)
    shares = [Fraction(int(x), 2**60) for x in whole]
    n = seen.n_items
    after = [sum(shares[i] * matrix[i][j] for i in range(n)) for j in range(n)]
    exact = sum(abs(a - b) for a, b in zip(after, shares, strict=True))
    assert exact <= Fraction(walk.residual(whole))
    assert walk.residual(whole) <= float(exact) * (1 + 1e-5) + 2 * walk.rounding
    # The error that the residual implies, where the walk forgets where it began.
    tau, stationary = walks.tau(matrix), walks.stationary(matrix)
    if tau < 1:
        error = sum(abs(a - b) for a, b in zip(shares, stationary, strict=True))
        assert error <= exact / (1 - tau)


@fixed
@given(seen=walks.graphs(most=6, full=True))
def test_the_promised_number_of_steps_is_enough(seen):
    degree = int(seen.degrees.max())
    walk, gap = Walk.of(seen, degree), 1 / degree
    tolerance = 8 * walk.rounding / gap
    steps = math.ceil(math.log(8 / tolerance) / gap)
    whole = walk.stationary(tolerance=tolerance, steps=steps)
    assert walk.residual(whole) <= tolerance


def test_steps_alone_are_enough_where_the_quicker_ones_are_of_no_use(monkeypatch):
    monkeypatch.setattr("shortlist.algorithms.random_walk._QUICK", 0)
    seen = played(np.exp(np.linspace(0, 2, 30)), times=5)
    walk = Walk.of(seen, 29)
    tolerance = 4 * walk.rounding * 29
    assert walk.residual(walk.stationary(tolerance=tolerance, steps=29 * 40)) <= tolerance
    assert walk.residual(walk.stationary(tolerance=tolerance, steps=4)) > tolerance


@pytest.mark.parametrize("steps", range(1, 9))
def test_as_many_steps_are_taken_as_were_asked_for(monkeypatch, steps):
    monkeypatch.setattr("shortlist.algorithms.random_walk._QUICK", 0)
    seen = walks.complete(3, 5, [1, 2, 4])
    after = np.full(3, 1 / 3) @ np.linalg.matrix_power(transition_matrix(seen), steps)
    whole = Walk.of(seen, 2).stationary(tolerance=0.0, steps=steps)
    assert np.abs(whole * 2.0**-60 - after).sum() < 1e-15


@fixed
@given(seen=walks.graphs())
def test_the_rounding_is_no_less_than_was_proven(seen):
    walk, most = Walk.of(seen, int(seen.degrees.max())), int(seen.degrees.max())
    assert walk.rounding >= (most + 6) * 2.0**-52 + 2 * seen.n_items * 2.0**-60


@pytest.mark.parametrize("share", [0.06, 0.2, 1.0])
def test_it_agrees_with_eigenvectors(share):
    seen = played(np.exp(np.sin(np.arange(120.0))), edge_probability=share, times=30, seed=3)
    assert is_connected(seen)
    values, vectors = np.linalg.eig(transition_matrix(seen).T)
    vector = vectors[:, np.abs(values - 1).argmin()].real
    assert np.abs(spectral_scores(seen) - vector / vector.sum()).max() < 1e-12


def test_a_walk_that_takes_long_is_solved(monkeypatch):
    solved, solve = [], spectral._solved

    def watched(walk):
        solved.append(walk)
        return solve(walk)

    monkeypatch.setattr(spectral, "_solved", watched)
    # A chain: what it forgets, it forgets in the order of n² steps. From i to i + 1 as often as
    # back, so that each share is the one before, times wins of the second over those of the first.
    n, times = 600, 200
    wins = np.where(np.arange(n - 1) < n // 2, 99, 101)
    seen = walks.outcomes(n, [(i, i + 1, times, int(won)) for i, won in enumerate(wins)])
    exact = np.cumprod([1.0, *((times - wins) / wins)])
    exact /= exact.sum()
    assert exact.max() > 10 * exact.min()
    assert np.abs(spectral_scores(seen) / exact - 1).max() < 1e-6
    assert len(solved) == 1
    assert len(spectral_scores(walks.outcomes(0, []))) == 0
    assert spectral_scores(walks.outcomes(1, [])).tolist() == [1.0]


def test_what_has_no_single_answer_is_refused():
    apart = walks.outcomes(4, [(0, 1, 1, 1), (2, 3, 1, 0)])
    assert not is_connected(apart)
    refusal(lambda: spectral_scores(apart), "no chain of comparisons links")
    # Two items that won everything: which one the walk ends at depends on where it began.
    two_ends = walks.outcomes(3, [(0, 1, 5, 5), (1, 2, 5, 0)])
    assert is_connected(two_ends)
    assert walks.stationary(walks.transitions(two_ends, 2)) is None
    assert spectral_scores(two_ends).tolist() == pytest.approx([0.5, 0, 0.5])  # one of many


# --- the ergodicity coefficient


@fixed
@given(seen=walks.graphs())
def test_the_coefficient_is_its_formula(seen):
    exact = walks.tau(walks.transitions(seen, int(seen.degrees.max())))
    assert ergodicity_coefficient(transition_matrix(seen)) == pytest.approx(float(exact), abs=1e-14)


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 40])
def test_the_coefficient_looks_at_all_pairs_of_rows(n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        rows = rng.random((n, n)) ** 3
        rows /= rows.sum(axis=1, keepdims=True)
        expected = max(float(np.abs(a - b).sum()) / 2 for a in rows for b in rows)
        assert ergodicity_coefficient(rows) == pytest.approx(expected, abs=1e-14)
        assert ergodicity_coefficient(np.asfortranarray(rows)) == ergodicity_coefficient(rows)
    assert ergodicity_coefficient(np.eye(n)) == (1.0 if n > 1 else 0.0)
    assert ergodicity_coefficient(np.empty((0, 0))) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        [[0.5, math.nan], [0.5, 0.5]],
        [[0.5, 0.5]],
        [[0.5, 0.6], [0.5, 0.5]],
        [[1.5, -0.5], [0.5, 0.5]],
        [0.5, 0.5],
        [[[1.0]]],
        [["a"]],
        [[math.inf]],
        None,
    ],
)
def test_what_is_no_transition_matrix_is_refused(wrong):
    refusal(lambda: ergodicity_coefficient(wrong), "transitions: ")


# --- what one changed outcome moves


@fixed
@given(seen=walks.graphs(), data=st.data(), more=st.integers(0, 2))
def test_one_outcome_moves_no_more_than_half_of_what_was_published(seen, data, more):
    pair = data.draw(st.integers(0, len(seen.first) - 1))
    degree = int(seen.degrees.max()) + more
    one = walks.transitions(seen, degree)
    other = walks.transitions(walks.changed(seen, pair), degree)
    tau = walks.tau(one)
    assume(tau < 1)
    before, after = walks.stationary(one), walks.stationary(other)
    assume(after is not None)
    moves = [abs(a - b) for a, b in zip(before, after, strict=True)]
    least = int(seen.times.min())
    s = Fraction(1, degree * least) / (1 - tau)
    assert max(moves) <= s  # Lemma 3.3 gives 2 s
    assert sum(moves) <= 2 * s
    assert max(moves) <= Fraction(1, degree * int(seen.times[pair])) / (1 - tau)


def test_half_of_what_was_published_is_attained():
    for times in (1, 3, 10):
        one, other = (
            walks.stationary(walks.transitions(walks.complete(2, times, [wins]), 1))
            for wins in (times, times - 1)
        )
        assert abs(one[0] - other[0]) == Fraction(1, times)  # 1 / (d L (1 - 0))


@fixed
@given(seen=walks.graphs(most=6, full=True), data=st.data(), more=st.integers(0, 4))
def test_no_promise_is_needed_where_all_pairs_are_compared(seen, data, more):
    degree = seen.n_items - 1 + more
    one = walks.transitions(seen, degree)
    assert walks.tau(one) <= 1 - Fraction(1, degree)
    pair = data.draw(st.integers(0, len(seen.first) - 1))
    other = walks.transitions(walks.changed(seen, pair), degree)
    moves = [
        abs(a - b) for a, b in zip(walks.stationary(one), walks.stationary(other), strict=True)
    ]
    assert max(moves) <= Fraction(1, int(seen.times.min()))
    assert sum(moves) <= Fraction(2, int(seen.times.min()))


@pytest.mark.parametrize("n", [2, 3, 6])
def test_some_outcomes_keep_no_less_where_all_pairs_are_compared(n):
    # The smaller number always wins.
    seen = walks.complete(n, 3, [3] * (n * (n - 1) // 2))
    for degree in (n - 1, n, 3 * n):
        assert walks.tau(walks.transitions(seen, degree)) == 1 - Fraction(1, degree)


def test_some_outcomes_keep_no_promise_where_a_pair_is_missing():
    for n in (3, 4, 6):
        pairs = [(i, j, 1, 1) for i in range(n) for j in range(i + 1, n) if (i, j) != (0, 1)]
        seen = walks.outcomes(n, pairs)  # items 0 and 1 win everything, and never met
        assert walks.tau(walks.transitions(seen, n - 1)) == 1


def test_a_broken_promise_is_expensive():
    # Items 0 and 2 never met; against item 1 both win nearly always.
    times, degree, promised = 100, 2, 0.75
    kept = walks.outcomes(3, [(0, 1, times, 50), (1, 2, times, 50)])
    assert walks.tau(walks.transitions(kept, degree)) <= promised
    bound = 1 / (degree * times * (1 - promised))
    one, other = (walks.outcomes(3, [(0, 1, times, 99), (1, 2, times, wins)]) for wins in (0, 1))
    assert walks.tau(walks.transitions(other, degree)) > promised
    before, after = (walks.stationary(walks.transitions(x, degree)) for x in (one, other))
    # 0 loses to 1 once in 100. Whether 2 does, too, decides which of them has half the walk's time.
    assert [float(x) for x in before] == pytest.approx([0, 0, 1])
    moved = float(max(abs(a - b) for a, b in zip(before, after, strict=True)))
    assert moved > 0.49
    assert moved > 24 * bound


# --- invented comparisons


def test_comparisons_follow_their_weights():
    weights = np.array([4.0, 2.0, 1.0])
    seen = played(weights, times=20_000)
    for i, j, wins in zip(seen.first, seen.second, seen.wins, strict=True):
        chance = weights[i] / (weights[i] + weights[j])
        band = 4 * math.sqrt(20_000 * chance * (1 - chance))
        assert abs(wins - 20_000 * chance) < band
        assert abs(wins - 20_000 * (1 - chance)) > band
    assert seen.times.tolist() == [20_000] * 3


def test_wrong_arguments_of_an_experiment_are_refused():
    good = {"weights": [2.0, 1.0], "edge_probability": 1.0, "times": 3, "seed": 1}
    assert bradley_terry(**good).height == 3  # a list will do
    for wrong in ([1.0, -1.0], [0.0, 1.0], [math.nan, 1.0], [[1.0]], "ab", None):
        refusal(lambda w=wrong: bradley_terry(**good | {"weights": w}), "weights: must be numbers")
    for wrong in (2, -0.1, math.nan, "1", None):
        said = f"edge_probability={wrong!r}: must be a number from 0 to 1"
        refusal(lambda w=wrong: bradley_terry(**good | {"edge_probability": w}), said)
    for wrong in (-1, 1.5, True, None):
        said = f"times={wrong!r}: must be a whole number"
        refusal(lambda w=wrong: bradley_terry(**good | {"times": w}), said)
    frame = bradley_terry(**good)
    for ask in (spectral_scores, transition_matrix):
        refusal(lambda a=ask: a(frame), "outcomes=a value of type DataFrame", "outcomes_of")
    refusal(lambda: outcomes_of(frame.select("winner"), 2), "with the columns winner and loser")
    refusal(lambda: outcomes_of([1, 2], 2), "games=a value of type list")
    refusal(lambda: outcomes_of(frame, -1), "n_items=-1: must be a whole number")
    refusal(lambda: outcomes_of(frame, 1), "winners and losers: must be whole numbers")


def test_pairs_are_compared_with_their_probability():
    seen = played(np.ones(200), edge_probability=0.1, times=3)
    assert set(seen.times.tolist()) == {3}
    assert abs(len(seen.first) - 1990) < 4 * math.sqrt(1990 * 0.9)
    again = played(np.ones(200), edge_probability=0.1, times=3)
    assert (again.wins == seen.wins).all()
    assert len(played(np.ones(200), edge_probability=0.0).first) == 0


@pytest.mark.parametrize("seed", range(3))
def test_without_noise_the_true_best_are_found(seed):
    # Chen et al. (2017): it takes a gap of the order of sqrt(ln n / (n p L)) between the k-th and
    # the next; here it is many times that.
    weights = np.concatenate([np.full(10, 2.0), np.ones(90)])
    seen = played(weights, edge_probability=0.5, times=200, seed=seed)
    assert set(np.argsort(-spectral_scores(seen))[:10].tolist()) == set(range(10))
    # Shares are nearly proportional to the weights.
    shares = spectral_scores(seen)
    assert shares[:10].mean() / shares[10:].mean() == pytest.approx(2, rel=0.05)
