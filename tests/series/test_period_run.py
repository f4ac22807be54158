"""Lists of single periods: their exact law beside that with one user more, accounts, mistakes."""

import itertools
import math

import numpy as np
import pytest

from helpers import periods
from helpers.periods import Right, period_terms
from helpers.weeks import columns, hold, share_of_claim, whole_series
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.errors import InputError
from shortlist.series import State
from shortlist.series.period_run import PeriodRun, of_period
from shortlist.series.period_terms import PeriodTerms
from shortlist.series.terms import WHOLE

NOBODY, FIRST, SECOND, BOTH = map(frozenset, ((), (0,), (1,), (0, 1)))
SETS = NOBODY, FIRST, SECOND, BOTH


# --- the terms


@pytest.mark.parametrize(
    ("epsilon", "delta", "runs", "bound", "level"),
    [
        (1.0, 1e-5, 52, 100, 23.233840),
        (1.0, 1e-5, 12, 100, 22.321745),
        (0.3, 1e-5, 52, 100, 70.339131),
        (1.0, 1e-6, 52, 10, 26.189458),
        (3.0, 1e-6, 365, 100, 10.554534),
    ],
)
def test_the_threshold_is_one_that_was_computed_apart(epsilon, delta, runs, bound, level):
    terms = PeriodTerms(epsilon=epsilon, delta=delta, periods=runs, max_items_per_user=bound)
    assert terms.threshold == pytest.approx(level, abs=2e-6)
    assert 0.99 * terms.lost < terms.chance_alone(terms.threshold) <= terms.lost


def test_no_weights_of_one_user_are_named_more_often_than_the_worst():
    terms = PeriodTerms(epsilon=1.0, delta=1e-3, periods=3, max_items_per_user=4)
    level, rng = terms.threshold, np.random.default_rng(1)
    shares = rng.dirichlet(np.full(12, 0.2), 500)
    edges = [[1.0] + [0.0] * 11, [1 / 12] * 12, [0.5, 0.5] + [0.0] * 10]
    most = terms.chance_alone(level)
    for squares in (*shares.tolist(), *edges):
        far = [(level - math.sqrt(y)) / terms.sigma / math.sqrt(2) for y in squares]
        assert sum(math.erfc(x) / 2 for x in far) <= most


def test_accounts_and_bars_are_rounded_towards_privacy():
    terms = PeriodTerms(epsilon=1.0, delta=1e-5, periods=12)
    assert [terms.accrued(t) * 120 <= WHOLE * (36 + 7 * t) for t in range(13)] == [True] * 13
    assert terms.accrued(12) == WHOLE
    assert terms.bar >= 2**20 * terms.threshold


def test_an_epsilon_whose_noise_is_beyond_whole_numbers_is_refused():
    with pytest.raises(InputError, match="takes more noise than whole numbers hold"):
        PeriodTerms(epsilon=1e-7, delta=1e-9, periods=2)


# --- the law


@pytest.mark.parametrize("bound", [1, 2])
@pytest.mark.parametrize("others", [hold(1, BOTH, FIRST), hold(0, NOBODY, NOBODY)])
def test_one_user_more_or_less_is_within_the_claim(bound, others):
    terms = period_terms(grid=(1, 2, 21), max_items_per_user=bound)
    for one in ((BOTH, BOTH), (BOTH, SECOND), (FIRST, FIRST)):
        assert share_of_claim(terms, Right, others, one) < 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", [Right, periods.Recovered])
@pytest.mark.parametrize("bound", [1, 2])
@pytest.mark.parametrize("other", list(itertools.product(SETS, SETS)))
def test_every_pair_of_one_and_two_users_is_within_the_claim(kind, bound, other):
    terms = period_terms(grid=(1, 2, 21), max_items_per_user=bound)
    for one in itertools.product(SETS, SETS):
        assert share_of_claim(terms, kind, hold(1, *other), one) < 1, one


@pytest.mark.parametrize("kind", [Right, periods.Recovered])
def test_three_runs_are_within_the_claim(kind):
    terms = period_terms(grid=(1, 2, 21), periods=3)
    assert share_of_claim(terms, kind, hold(5, FIRST, NOBODY, FIRST), (FIRST,) * 3) < 1


_FOUR = hold(10, *[FIRST] * 4), (FIRST,) * 4
_ONCE = {"periods": 1, "max_items_per_user": 1}


@pytest.mark.parametrize(
    ("kind", "given", "others", "one"),
    [
        (periods.NotKept, {"delta": 0.02, "periods": 4, "grid": (2, 4, 21)}, *_FOUR),
        (periods.NewAccounts, {"delta": 0.02, "periods": 4, "grid": (2, 4, 21)}, *_FOUR),
        (periods.HeldNow, {"grid": (1, 2, 21)}, hold(8, FIRST, NOBODY), (FIRST, FIRST)),
        (periods.ByRows, {**_ONCE, "grid": (1, 2, 21)}, hold(4, BOTH), (FIRST,)),
        (periods.NoLimit, {**_ONCE, "grid": (52, 52, 16)}, hold(0, NOBODY), (range(8),)),
        (periods.NoWeight, {**_ONCE, "grid": (36, 52, 16)}, hold(0, NOBODY), (FIRST,)),
        (
            periods.NoUnion,
            {"delta": 0.002, "grid": (36, 38, 18)},
            hold(0, NOBODY, NOBODY),
            (BOTH, BOTH),
        ),
    ],
)
def test_a_mistake_breaks_the_claim_and_the_right_one_does_not(kind, given, others, one):
    right = periods.Recovered if issubclass(kind, periods.Recovered) else Right
    wrong = (period_terms(kind, **given), Right) if issubclass(kind, PeriodTerms) else None
    assert share_of_claim(*(wrong or (period_terms(**given), kind)), others, one) > 1.1
    assert share_of_claim(period_terms(**given), right, others, one) < 1


@pytest.mark.parametrize("n", [8, 12, 16])
def test_how_often_an_item_of_so_many_users_is_named(n):
    """By many items at once, each with users of its own."""
    terms = PeriodTerms(epsilon=1.0, delta=0.1, periods=2, max_items_per_user=2)
    n_items, bar = 20_000, terms.threshold
    rows = np.arange(n * n_items), np.repeat(np.arange(n_items), n)
    state, draws = State(), ExactDraws(SeededBits(7))
    for _ in range(2):
        state = PeriodRun(terms, state, *rows, draws).made()
    weights = [n * math.sqrt(0.65 / 2), n * math.sqrt((1 - 0.65 / 2) / 2)]
    found, again = (math.erfc((bar - w) / terms.sigma / math.sqrt(2)) / 2 for w in weights)
    for run, chance in ((1, found), (2, (1 - found) * again)):
        seen = (state.named_in == run).sum() / n_items
        assert abs(seen - chance) < 4.5 * math.sqrt(chance * (1 - chance) / n_items) + 2e-3


# --- what is kept


def random_tables(runs=4):
    rng = np.random.default_rng(1)
    return [
        tuple(frozenset(rng.zipf(1.5, rng.integers(0, 9)) % 30) for _ in range(60))
        for _ in range(runs)
    ]


def test_accounts_grow_and_hold_what_was_really_added():
    terms = PeriodTerms(epsilon=3.0, delta=0.05, periods=4, max_items_per_user=3)
    states = whole_series(terms, random_tables(), ExactDraws(SeededBits(3)), PeriodRun)
    for run, (before, after) in enumerate(itertools.pairwise(states), start=1):
        assert after.used.max() <= terms.accrued(run) <= WHOLE
        assert (after.used[: len(before.used)] >= before.used).all()
        assert (after.counted[: len(before.counted)] == before.counted).all()
        assert (after.named_in > 0).all()
        assert after.sums.shape == (len(after.counted), run)
        assert not len(after.slots)
        told = of_period(terms, after)
        assert set(after.counted[after.named_in == run]) <= set(told.items)


def test_weights_are_those_of_their_definition():
    terms = PeriodTerms(epsilon=3.0, delta=0.05, periods=4, max_items_per_user=3)
    tables, draws = random_tables(), ExactDraws(SeededBits(11))
    state = whole_series(terms, tables[:3], draws, PeriodRun)[-1]
    assert len(state.counted)
    run = PeriodRun(terms, state, *columns(tables[3]), draws)
    gives, named = run.giving(), state.is_named(run.items)
    others = np.bincount(run.users[gives & ~named])
    held = np.bincount(run.users[~named], minlength=len(others))
    assert (others == np.minimum(held[: len(others)], 3)).all()
    assert gives[named].all()
    users, items = run.users[gives], run.items[gives]
    before = State(3, np.arange(30), used=run.accounts())
    added, used = run.weights(before, users, items)
    sums, accounts = [0] * 30, before.used.tolist()
    for user in set(users.tolist()):
        mine = items[users == user].tolist()
        weight = math.isqrt((terms.accrued(4) - accounts[user]) // 2 // len(mine))
        accounts[user] += weight**2 * len(mine)
        for item in mine:
            sums[item] += weight
    assert (added.tolist(), used.tolist()) == (sums, accounts)


def test_the_order_of_rows_says_nothing():
    terms = PeriodTerms(epsilon=3.0, delta=0.05, periods=4, max_items_per_user=2)

    class Backwards(PeriodRun):
        def __init__(self, terms, state, users, items, draws):
            super().__init__(terms, state, users[::-1].copy(), items[::-1].copy(), draws)

    tables = random_tables()
    one, other = (
        whole_series(terms, tables, ExactDraws(SeededBits(5)), k)[-1]
        for k in (PeriodRun, Backwards)
    )
    assert all(np.array_equal(vars(one)[name], vars(other)[name]) for name in vars(one))
    assert len(one.counted)
