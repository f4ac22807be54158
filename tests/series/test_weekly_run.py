"""A series: its exact law beside that with one user more, its accounts, and mistakes."""

import itertools
import math

import numpy as np
import pytest

from helpers import weeks
from helpers.weeks import Right, columns, hold, share_of_claim, terms_of, whole_series
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.errors import InputError
from shortlist.series import SeriesTerms, State, Week, estimates, recovered
from shortlist.series.terms import WHOLE
from shortlist.series.weekly_run import boosts_of

NOBODY, FIRST, SECOND, BOTH = map(frozenset, ((), (0,), (1,), (0, 1)))
SETS = NOBODY, FIRST, SECOND, BOTH
FINE, WIDE, COARSE = (4, 14, 20), (3, 7, 21), (1, 2, 21)


def random_tables(n_users=40, n_items=30, runs=4, seed=1):
    rng = np.random.default_rng(seed)
    return [
        tuple(frozenset(rng.zipf(1.5, rng.integers(0, 9)) % n_items) for _ in range(n_users))
        for _ in range(runs)
    ]


@pytest.mark.parametrize("bound", [1, 2])
@pytest.mark.parametrize("other", [BOTH, FIRST])
def test_one_user_more_or_less_is_within_the_claim(bound, other):
    terms = terms_of(grid=COARSE, max_items_per_user=bound)
    assert share_of_claim(terms, Right, hold(1, other, BOTH), (BOTH, SECOND)) < 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("bound", [1, 2])
@pytest.mark.parametrize("other", list(itertools.product(SETS, SETS)))
def test_every_pair_of_one_and_two_users_is_within_the_claim(bound, other):
    terms = terms_of(grid=COARSE, max_items_per_user=bound)
    for one in itertools.product(SETS, SETS):
        assert share_of_claim(terms, Right, hold(1, *other), one) < 1, one


@pytest.mark.parametrize("n", [0, 5])
def test_three_runs_are_within_the_claim(n):
    terms = terms_of(grid=COARSE, periods=3)
    assert share_of_claim(terms, Right, hold(n, FIRST, NOBODY, FIRST), (FIRST,) * 3) < 1


@pytest.mark.parametrize(
    ("kind", "given", "others", "one"),
    [
        (weeks.NotKept, {}, hold(8, FIRST, FIRST), (FIRST, FIRST)),
        (weeks.NoPast, {}, hold(8, NOBODY, FIRST), (FIRST, FIRST)),
        (weeks.SinceEntry, {}, hold(8, NOBODY, FIRST), (FIRST, FIRST)),
        (
            weeks.ReadsCounted,
            {"delta": 0.1, "grid": (0, 3, 21)},
            hold(8, FIRST, FIRST),
            (SECOND, SECOND),
        ),
        (
            weeks.FitsAll,
            {"delta": 0.1, "grid": (0, 3, 21)},
            hold(8, FIRST, FIRST),
            (SECOND, SECOND),
        ),
        (weeks.LateNoise, {}, hold(8, FIRST, NOBODY), (FIRST, FIRST)),
        (weeks.HeldNow, {"grid": FINE}, hold(8, FIRST, NOBODY), (FIRST, FIRST)),
        (
            weeks.OldAccounts,
            {"grid": (4, 7, 21), "max_items_per_user": 1},
            hold(8, FIRST, FIRST),
            (FIRST, FIRST),
        ),
        (
            weeks.OldSums,
            {"delta": 0.02, "grid": (0, 1, 23), "max_items_per_user": 1},
            hold(80, NOBODY, FIRST, FIRST),
            (FIRST,) * 3,
        ),
        (weeks.ErasedAnew, {}, hold(8, FIRST, FIRST), (FIRST, FIRST)),
        (weeks.NoUnion, {"grid": FINE}, hold(0, NOBODY, NOBODY), (FIRST, FIRST)),
        (weeks.NoRoot, {"delta": 0.1, "grid": (36, 52, 16)}, hold(0, NOBODY), (FIRST,)),
        (weeks.NoLimit, {"delta": 0.1, "grid": (52, 52, 16)}, hold(0, NOBODY), (range(6),)),
    ],
)
def test_a_mistake_breaks_the_claim_and_the_right_one_does_not(kind, given, others, one):
    size = {"periods": len(one), "max_items_per_user": len(one)}
    given = {"delta": 0.002, "grid": WIDE} | size | given
    right = next((k for k in (weeks.Recovered, weeks.Erased) if issubclass(kind, k)), Right)
    wrong = (terms_of(kind, **given), Right) if issubclass(kind, SeriesTerms) else None
    assert share_of_claim(*(wrong or (terms_of(**given), kind)), others, one) > 1.4
    assert share_of_claim(terms_of(**given), right, others, one) < 1


def test_slots_that_are_filled_by_what_noise_is_high_break_the_claim():
    """Others would tell by their choice which item one user alone had brought in."""
    terms, seen = terms_of(max_items_per_user=1), (FIRST, NOBODY)
    assert share_of_claim(terms, weeks.SlotsByNoise, hold(6, NOBODY, BOTH), seen) > 1.4
    assert share_of_claim(terms, Right, hold(3, NOBODY, BOTH), seen) < 1


@pytest.mark.parametrize(
    ("delta", "n", "never", "at_once"),
    [
        (0.1, 1, 0.98600436, 0.00666667),
        (0.1, 3, 0.77508627, 0.08695601),
        (0.02, 8, 0.18325295, 0.38901853),
    ],
)
def test_how_often_an_item_of_so_many_users_is_named(delta, n, never, at_once):
    """By many items at once, each with users of its own; the chances were computed apart."""
    n_items, terms = 20_000, SeriesTerms(epsilon=1.0, delta=delta, periods=2, max_items_per_user=2)
    rows = np.arange(n * n_items), np.repeat(np.arange(n_items), n)
    state, draws = State(), ExactDraws(SeededBits(7))
    for _ in range(2):
        state = Week(terms, state, *rows, draws).made()
    shares = np.bincount(state.named_in, minlength=3) / n_items
    for seen, chance in ((shares[0], never), (shares[1], at_once)):
        assert abs(seen - chance) < 4.5 * math.sqrt(chance * (1 - chance) / n_items)
    assert abs(np.mean(state.sums[:, 0] / 2**20) - n * math.sqrt(0.5)) < 0.06


def test_accounts_slots_and_counted_items_only_grow():
    terms = SeriesTerms(epsilon=1.0, delta=1e-3, periods=4, max_items_per_user=3)
    states = whole_series(terms, random_tables(), ExactDraws(SeededBits(3)))
    for run, (before, after) in enumerate(itertools.pairwise(states), start=1):
        assert after.used.max() <= terms.accrued(run) <= WHOLE
        assert (after.used[: len(before.used)] >= before.used).all()
        assert set(before.slots) <= set(after.slots)
        assert np.bincount(after.slots // 2**32).max() <= 3
        assert (after.counted[: len(before.counted)] == before.counted).all()
        assert (after.sums[: len(before.counted), : run - 1] == before.sums).all()
        assert set((after.slots % 2**32).tolist()) == set(after.counted.tolist())


def test_the_order_of_rows_says_nothing():
    terms = SeriesTerms(epsilon=1.0, delta=1e-3, periods=4, max_items_per_user=2)

    class Backwards(Week):
        def __init__(self, terms, state, users, items, draws):
            super().__init__(terms, state, users[::-1].copy(), items[::-1].copy(), draws)

    ends = [
        whole_series(terms, random_tables(), ExactDraws(SeededBits(5)), kind)[-1]
        for kind in (Week, Backwards)
    ]
    assert all(np.array_equal(vars(ends[0])[name], vars(ends[1])[name]) for name in vars(ends[0]))


def test_what_is_left_of_a_state_that_is_lost():
    terms = SeriesTerms(epsilon=3.0, delta=0.05, periods=4, max_items_per_user=3)
    tables, draws = random_tables(), ExactDraws(SeededBits(11))
    states = whole_series(terms, tables[:3], draws)
    older, last = states[1], states[3]
    named = last.named_in > 0
    named_in = dict(zip(last.counted[named].tolist(), last.named_in[named].tolist(), strict=True))
    found = recovered(terms, older, 3, named_in, draws)
    was, rows = older.is_named(found.counted), last.sums[last.places(found.counted)]
    assert 0 < was.sum() < len(found.counted) == named.sum()
    same = found.sums == rows
    assert same[was, 0].all()
    assert not same[~was].any()
    assert not same[:, 1:].any()
    assert (found.runs, len(found.slots)) == (3, 0)
    after = Week(terms, found, *columns(tables[3]), draws).made()
    assert (after.used >= terms.accrued(3)).all()
    assert after.used.max() <= WHOLE


def test_a_state_that_is_lost_before_anything_is_named():
    terms = SeriesTerms(epsilon=1.0, delta=1e-5, periods=2)
    found = recovered(terms, State(), 1, {}, ExactDraws(SeededBits(1)))
    after = Week(terms, found, *columns([{0}]), ExactDraws(SeededBits(1))).made()
    assert after.sums.shape == (1, 2)
    assert WHOLE // 2 < after.used[0] <= WHOLE


def weights_one_by_one(week, state):
    """The slow way, in whole numbers alone."""
    added, used = {}, dict(enumerate(state.used.tolist()))
    slots = set(state.slots.tolist())
    boosts = dict(zip(state.counted.tolist(), boosts_of(week.terms, state).tolist(), strict=True))
    named = set(state.counted[state.named_in > 0].tolist())
    rows = list(zip(week.users.tolist(), week.items.tolist(), strict=True))
    for user in {user for user, _ in rows}:
        mine = [i for u, i in rows if u == user and (i in named or u * 2**32 + i in slots)]
        left = week.terms.accrued(week.run) - used[user]
        for item in mine:
            total = max(sum(boosts[i] for i in mine), week.terms.least_total(week.run))
            weight = math.isqrt(left * boosts[item] // total)
            added[item] = added.get(item, 0) + weight
            used[user] += weight**2
    return [added.get(item, 0) for item in state.counted.tolist()], list(used.values())


def test_weights_are_those_of_their_definition():
    terms = SeriesTerms(epsilon=3.0, delta=0.05, periods=4, max_items_per_user=3)
    tables, draws = random_tables(), ExactDraws(SeededBits(11))
    state = whole_series(terms, tables[:3], draws)[-1]
    assert (state.named_in > 0).any()
    week = Week(terms, state, *columns(tables[3]), draws)
    ready = week.with_past(state)
    added, used = week.weights(ready)
    assert (added.tolist(), used.tolist()) == weights_one_by_one(week, ready)


def hopeful(terms, run, length, total):
    """The place of a boost, by how likely a sum is to reach the bar of a window thrice as long."""
    rest = min(2 * length, terms.periods - run)
    bar = math.sqrt(length + rest) * terms.thresholds[run + rest - 1]
    mean = total / length
    needed = (bar - total) / rest
    excess = (needed - 1.25 * mean) / (terms.sigma * math.sqrt(1.25**2 / length + 1 / rest))
    return min(max(256 - math.ceil(64 * excess), 0), 256)


def test_boosts_are_by_the_best_window_and_least_for_what_is_named():
    terms = SeriesTerms(epsilon=1.0, delta=1e-5, periods=8)
    weights = [(-4.0, -4.0), (14.1, -30.0), (5.0, 3.0), (2.0, 8.1), (99.0, 99.0)]
    sums = np.array([[round(2**20 * weight) for weight in pair] for pair in weights])
    state = State(2, np.arange(5), sums, np.array([0, 0, 0, 0, 1]))
    best = [max(hopeful(terms, 2, 1, b), hopeful(terms, 2, 2, a + b)) for a, b in weights[:4]]
    assert best[0] == best[1] == 0 < best[2] < best[3] < 256
    expected = [*terms.boosts[best].tolist(), terms.boost_when_named]
    assert boosts_of(terms, state).tolist() == expected
    assert boosts_of(terms, state, 0).tolist() == [terms.boosts[-1]] * 5


def test_estimates_are_least_squares_of_all_runs_by_what_boosts_were_worth():
    terms = SeriesTerms(epsilon=1.0, delta=1e-5, periods=8)
    sums = 2**20 * np.array([[30, 12, 7], [40, 90, 60]])
    state = State(3, np.array([5, 2]), sums, np.array([2, 1]))
    boosts = np.sqrt([boosts_of(terms, state, run) / 2**20 for run in range(3)]).T
    assert boosts[1, 1] ** 2 == terms.boost_when_named / 2**20 != boosts[0, 1] ** 2
    worth, y = [[1.0] * 3] * 2, sums / 2**20

    def fitted(item):
        factors = [w * b for w, b in zip(worth[item], boosts[item], strict=True)]
        squares = sum(f * f for f in factors)
        return sum(f * v for f, v in zip(factors, y[item], strict=True)) / squares, squares

    for _ in range(2):
        values = [fitted(item)[0] for item in range(2)]
        worth = [
            [
                (boosts[i, run] * values[i] * y[i, run] + terms.sigma**2)
                / ((boosts[i, run] * values[i]) ** 2 + terms.sigma**2)
                for run in range(3)
            ]
            for i in (1, 0)  # of each item, by the other
        ]
    told = estimates(terms, state)
    assert told.values == pytest.approx([fitted(item)[0] for item in range(2)])
    assert told.sds == pytest.approx([terms.sigma / math.sqrt(fitted(i)[1]) for i in range(2)])
    assert told.items.tolist() == [5, 2]


def test_estimates_are_the_same_to_the_last_bit_in_whichever_order_items_came():
    terms, rng = SeriesTerms(epsilon=1.0, delta=1e-5, periods=8), np.random.default_rng(1)
    sums = np.rint(2**20 * rng.normal(40.0, 9.0, (30, 6))).astype(np.int64)
    named_in, items = rng.integers(0, 7, 30), np.arange(30)
    told = set()
    for _ in range(20):
        order = rng.permutation(30)
        state = State(6, items[order], sums[order], named_in[order])
        told.add(frozenset(zip(*(x.tolist() for x in estimates(terms, state)), strict=True)))
    assert len(told) == 1


def test_estimates_of_few_items_are_as_certain_as_they_say():
    """Of one item alone: nothing is fitted to its noise.

    Were it, the estimate would be above by more than the standard deviation that is told.
    """
    terms, rng = SeriesTerms(epsilon=1.0, delta=1e-5, periods=40), np.random.default_rng(1)
    off = []
    for _ in range(200):
        sums = np.rint(2**20 * rng.normal(3.0, terms.sigma, (1, 40))).astype(np.int64)
        state = State(40, np.array([0]), sums, np.array([40]))
        squares = [boosts_of(terms, state, run)[0] / 2**20 for run in range(40)]
        told, boosts = estimates(terms, state), np.sqrt(squares)
        off.append((told.values[0] - 3.0 * boosts.sum() / (boosts**2).sum()) / told.sds[0])
    assert abs(np.mean(off)) < 4 / math.sqrt(200)
    assert 0.8 < np.std(off) < 1.2


def test_no_run_beyond_the_last():
    terms = SeriesTerms(epsilon=1.0, delta=1e-5, periods=1)
    done = whole_series(terms, [({0},)], ExactDraws(SeededBits(1)))[-1]
    with pytest.raises(InputError, match="no run of this series is left"):
        Week(terms, done, *columns([{0}]), ExactDraws(SeededBits(1)))


def test_a_week_without_rows_is_a_week():
    terms = SeriesTerms(epsilon=1.0, delta=1e-5, periods=2)
    states = whole_series(terms, [(), ({0},)], ExactDraws(SeededBits(1)))
    assert [len(state.counted) for state in states] == [0, 0, 1]
    assert states[-1].sums.shape == (1, 2)
