"""Search in rounds: what users add, what an item is worth, and when enough was found."""

import functools
import itertools
import math
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.hitting import contributions
from shortlist import kernels
from shortlist.algorithms import search_in_rounds, thinning
from shortlist.algorithms.rounding_grids import FARTHEST, coarse_grid
from shortlist.algorithms.search_in_rounds import BOOSTS, Search, UntilMany, UntilSafe
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import contributions as contributions_module
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import AdaptiveGaussian, AdaptiveTopK

ONE = 2**20  # a weight of 1
FLOOR = Fraction(1, 16)


def rounds_of(**given):
    mechanism = AdaptiveGaussian(
        **{"epsilon": 1.0, "delta": 1e-5, "max_items_per_user": 100, "rounds": 4} | given
    )
    return mechanism.search


def held_by(*users, n_items):
    rows = [(u, item) for u, items in enumerate(users) for item in items]
    columns = np.array(rows, np.uint32).reshape(-1, 2).T.copy()
    return Contributions.of_rows(*columns, n_users=len(users), n_items=n_items)


def added(rounds, boosts, n_items):
    """What one user of all these items adds, in units."""
    held = held_by(range(n_items), n_items=n_items)
    left, kept, dropped = held.sizes.copy(), np.empty_like(held.items), np.zeros(1, np.int64)
    tables = np.array(boosts, np.int16), rounds._floors(n_items), rounds._caps(n_items)
    sums = held.added_up(kernels.steer, left, kept, dropped, *tables)
    assert kept[: left[0]].tolist() == [i for i in range(n_items) if boosts[i] >= 0]
    assert dropped[0] == boosts.count(kernels.DROPPED)
    return sums


boosts = st.lists(st.sampled_from([-2, -1, 0, 1, 2, 700, 2047, 2048]), min_size=1, max_size=7)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(boosts=boosts)
def test_every_subset_of_a_user_s_items_leaves_its_floor_to_the_others(boosts):
    """The condition of the theorem, in whole numbers, for each set N of items not yet found."""
    d = len(boosts)
    squares = [int(x) ** 2 for x in added(rounds_of(), boosts, d)]
    left = [i for i in range(d) if boosts[i] != kernels.FOUND]
    assert all(squares[i] == 0 for i in range(d) if boosts[i] < 0)
    for n in range(len(left) + 1):
        for novel in itertools.combinations(left, n):
            others = sum(squares[i] for i in range(d) if i not in novel)
            assert others <= ONE**2 * (1 - FLOOR * n / d)


def test_dropped_items_that_leave_their_floor_to_others_are_caught():
    right, wrong = (
        added(rounds_of(), [far, far, 2048], 3)[2] for far in (kernels.DROPPED, kernels.FOUND)
    )
    most = ONE**2 * (1 - FLOOR * 2 / 3)
    assert int(right) ** 2 <= most < int(wrong) ** 2


@settings(derandomize=True, deadline=None, max_examples=100)
@given(boosts=boosts)
def test_weights_are_those_of_the_definition_but_for_their_rounding(boosts):
    d, rounds = len(boosts), rounds_of()
    found = added(rounds, boosts, d) / ONE
    left = sum(b != kernels.FOUND for b in boosts)
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
    step = rounds.grid.step / ONE / rounds.schedule.whole
    done = float(rounds.schedule.spent(r + 1))
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
    coarse = replace(rounds, grid=coarse_grid(1.0, 60.0))
    dead = coarse._noisy(np.full(50, -(2**40)), 0, ExactDraws(SeededBits(1)))
    top = coarse.grid.highest
    parts = rounds.schedule.parts
    most = parts[0] * dead + sum(parts[1:3]) * top
    assert (coarse._boosts(2, most) == 0).all()
    assert (most < coarse._bars[2]).all()
    assert coarse._last(most, np.full(50, 2**50)).approximate()[0].max() == 0.0


def test_items_that_many_hold_are_found_and_few_of_others():
    users = [[0, 1, 2 + u % 40] for u in range(400)]
    found = rounds_of().found(held_by(*users, n_items=42), ExactDraws(SeededBits(5)))
    assert set(found.items[:2].tolist()) == {0, 1}
    assert np.abs(found.first[:2] - 400 / math.sqrt(3)).max() < 60
    assert len(found.items) < 10


def test_nobody_and_one_user_find_nothing():
    for users in ([], [[]], [[0]]):
        found = rounds_of().found(held_by(*users, n_items=1), ExactDraws(SeededBits(5)))
        assert found.items.tolist() == []


# --- what is dropped


class HeardToTheEnd(Search):
    """What is dropped goes on to be added up and heard of, is worth nothing, and is never found."""

    def steer(self, progress):
        far = progress.so_far < self._least_kept[progress.rounds - 1]
        progress.so_far[far] = -FARTHEST // self.grid.step
        self.__dict__["dropped"] = self.__dict__.get("dropped", 0) + int(far.sum())
        vars(self)["_least_kept"] = [-(2**62)] * self.schedule.rounds
        super().steer(progress)
        del vars(self)["_least_kept"]


def law_with(kind, drops_from, monkeypatch):
    monkeypatch.setattr(search_in_rounds, "_DROPPED", drops_from)
    given = {"epsilon": 2.0, "delta": 0.2, "max_items_per_user": 2, "rounds": 3}
    search = kind(**vars_of(AdaptiveGaussian(**given).audit_hints().coarse.search))

    def found(draws):
        found = search.found(held_by([0, 1], [0], [0], n_items=2), draws)
        return tuple(found.items.tolist()), tuple(found.first.tolist())

    return law(found), vars(search).get("dropped", 0)


def vars_of(search):
    return {field.name: getattr(search, field.name) for field in fields(search)}


def test_what_is_dropped_might_as_well_be_heard_to_the_end(monkeypatch):
    found, _ = law_with(Search, 0.5, monkeypatch)
    expected, dropped = law_with(HeardToTheEnd, 0.5, monkeypatch)
    never, _ = law_with(Search, 50.0, monkeypatch)
    assert dropped > 0
    assert max(abs(found.get(o, 0) - p) for o, p in never.items()) > 1e-3
    for outcome in expected.keys() | found.keys():
        assert abs(found.get(outcome, 0) - expected.get(outcome, 0)) < 1e-12


def test_what_is_dropped_is_not_heard_again():
    search, held = rounds_of(), held_by([0, 1, 2], [1], n_items=3)
    progress = search.begin(held)
    bar = search._least_kept[0]
    part = search.schedule.parts[0]
    search.observe(progress, Told([bar // part - 1, bar // part + 1, -(2**40)]))
    search.steer(progress)
    assert progress.items.tolist() == [1]
    draws = Told([0])
    search.observe(progress, draws)
    assert draws.heard == [1]
    search.steer(progress)
    assert progress.boosts[[0, 2]].tolist() == [kernels.DROPPED] * 2  # in all rounds to come


def test_known_items_are_never_dropped():
    search, held = rounds_of(), held_by([0, 1], n_items=2).with_public(np.array([1]))
    progress = search.begin(held, search.of_known)
    search.observe(progress, Told([-(2**40), -(2**40)]))
    search.steer(progress)
    assert progress.items.tolist() == [1]


# --- what is done where items are many changes no law


def as_if_many(monkeypatch, *, renumbered, thinned):
    """What is done for very many items is done for few."""
    if renumbered:
        monkeypatch.setattr(contributions_module, "_MANY", 0)
        monkeypatch.setattr(contributions_module, "_FEW", 2**40)
    if thinned:
        monkeypatch.setattr(thinning, "_WORTH_THINNING", 0)
        monkeypatch.setattr(search_in_rounds, "_RARE", -9.0)  # so that every coin is thinned


TINY = [[2, 0], [2], [4, 2], [0, 4]]  # nobody holds 1 and 3


def tiny_laws():
    """Of what all rounds find, and of what rounds that stop find; with what is told of it."""
    given = {"epsilon": 2.0, "delta": 0.2, "max_items_per_user": 2}
    to_the_end = AdaptiveGaussian(**given, rounds=2).audit_hints().coarse.search
    stopping = AdaptiveTopK(**given, k=1).audit_hints().coarse.search

    def all_rounds(draws):
        found = to_the_end.found(held_by(*TINY, n_items=5), draws)
        return tuple(found.items.tolist()), tuple(found.first.tolist())

    def until_one(draws):
        stop = UntilMany((1,) * stopping.schedule.rounds)
        found = stopping.found_early(stop, held_by(*TINY, n_items=5), draws)
        told = (found.items, found.first, found.estimates)
        return found.rounds, *(tuple(values.tolist()) for values in told)

    return law(all_rounds), law(until_one)


PLAIN = functools.cache(tiny_laws)


@pytest.mark.parametrize(("renumbered", "thinned"), [(True, False), (False, True), (True, True)])
def test_the_law_of_few_items_is_that_of_many(monkeypatch, renumbered, thinned):
    plain = PLAIN()
    as_if_many(monkeypatch, renumbered=renumbered, thinned=thinned)
    for expected, found in zip(plain, tiny_laws(), strict=True):
        assert len(expected) > 3
        for outcome in expected.keys() | found.keys():
            assert abs(found.get(outcome, 0) - expected.get(outcome, 0)) < 1e-12


def test_a_coin_thinned_by_another_bar_is_caught(monkeypatch):
    expected, _ = PLAIN()
    monkeypatch.setattr(thinning, "_WORTH_THINNING", 0)
    right = search_in_rounds.rare_coins

    def by_a_bar_of_another_round(gaps, chances, _rare_below, draws):
        return right(gaps + 2**20, chances, int(gaps.max(initial=0)) + 2**21, draws)

    monkeypatch.setattr(search_in_rounds, "rare_coins", by_a_bar_of_another_round)
    found, _ = tiny_laws()
    assert max(abs(found.get(o, 0) - p) for o, p in expected.items()) > 1e-3


def test_renumbered_sets_are_the_same_sets(monkeypatch):
    monkeypatch.setattr(contributions_module, "_MANY", 0)
    held = held_by([7, 3], [3, 5, 0], [], [5], n_items=9)
    same, codes = held.renumbered()
    assert sorted(codes.tolist()) == [0, 3, 5, 7]
    assert same.n_items == 4
    assert same.users_of_size().tolist() == held.users_of_size().tolist()
    weights = np.array([0, 7, 5, 3])
    assert same.added_by_size(weights).tolist() == held.added_by_size(weights)[codes].tolist()


# --- rounds that stop when k of those found are safe

MARGINS = (1.5, 1.0, 0.5)
MECHANISM = AdaptiveTopK(k=2, epsilon=1.0, delta=1e-6, max_items_per_user=4)
SEARCH = MECHANISM.search
PARTS, THRESHOLDS, STEP = SEARCH.schedule.parts, SEARCH.thresholds, SEARCH.step


class Told:
    """Draws by which each item hears what a script says, round by round."""

    def __init__(self, *rounds):
        self.rounds, self.heard = iter(rounds), []

    def rounded_down(self, scores, noise, grid, *, unit):  # noqa: ARG002 - the interface
        told = next(self.rounds)
        self.heard.append(len(scores))
        return np.array(told[: len(scores)], np.int64)


def rounded(*weights):
    """The noisy weights in steps, rounded down."""
    return [math.floor(weight / STEP) for weight in weights]


def stopped(held, draws, k=2):
    return SEARCH.found_early(UntilSafe(k, MARGINS), held, draws)


def safe(r, above=0.01):
    """What is just as high above the threshold of round r as it has to be."""
    noise = MECHANISM.sigma * math.sqrt(sum(PARTS) / sum(PARTS[: r + 1]))
    return THRESHOLDS[r] + MARGINS[r] * noise + above


ONE_EACH = contributions([{0}, {1}, {2}], 3)


def test_they_stop_as_soon_as_k_are_safe():
    found = stopped(ONE_EACH, Told(rounded(safe(0), 0.0, safe(0))))
    assert found.rounds == 1
    assert found.items.tolist() == [0, 2]
    assert found.estimates == pytest.approx([safe(0)] * 2, abs=STEP)


@pytest.mark.parametrize("second", [safe(0, -0.1), THRESHOLDS[0] + STEP, -5.0])
def test_they_go_on_while_the_kth_best_is_not(second):
    high, low = 10 * safe(0), -1e3
    draws = Told(
        rounded(high, second, low), rounded(low, low), rounded(low, low), rounded(low, low)
    )
    found = stopped(ONE_EACH, draws)
    assert found.rounds == (2 if second > 0 else len(PARTS))  # later thresholds are lower
    assert found.items.tolist() == ([0, 1] if second > 0 else [0])


def test_one_that_is_found_is_not_heard_again():
    low = -1e3
    draws = Told(rounded(10 * safe(0), low, low), *[rounded(low, low)] * 3)
    stopped(ONE_EACH, draws)
    assert draws.heard == [3, 2, 2, 2]


def test_a_later_round_may_stop_them():
    near = THRESHOLDS[0] - 1
    mean = safe(1, 5.0)
    more = (sum(PARTS[:2]) * mean - PARTS[0] * near) / PARTS[1]
    found = stopped(ONE_EACH, Told(rounded(near, near, -9.0), rounded(more, more, -9.0)))
    assert found.rounds == 2
    assert found.items.tolist() == [0, 1]


def test_an_estimate_is_the_least_squares_of_all_that_was_heard_of_it():
    near = THRESHOLDS[0] - 1
    first = rounded(near)[0]
    boost = SEARCH._boosts(0, np.array([PARTS[0] * first]))[0] / BOOSTS
    assert 0.3 < boost < 1
    second = rounded(safe(1, 30.0))[0]
    found = stopped(ONE_EACH, Told([first, -99, -99], [second, -99, -99]), k=1)
    expected = PARTS[0] * first + PARTS[1] * boost * second
    expected *= STEP / (PARTS[0] + PARTS[1] * boost**2)
    assert found.estimates == pytest.approx([expected], rel=1e-12)


def test_what_was_worth_little_counts_as_if_it_were_worth_a_bit():
    far = rounded(-3.0)[0]
    assert SEARCH._boosts(0, np.array([PARTS[0] * far]))[0] < 0.3 * BOOSTS
    high = rounded(50 * safe(1))[0]
    found = stopped(ONE_EACH, Told([far, -99, -99], [high, -99, -99]), k=1)
    expected = PARTS[0] * far + PARTS[1] * 0.3 * high
    expected *= STEP / (PARTS[0] + PARTS[1] * 0.09)
    assert found.estimates == pytest.approx([expected], rel=1e-12)


def test_nothing_but_what_is_told_of_found_items_decides():
    """Whatever the third item hears while it is not found."""
    told = [
        stopped(ONE_EACH, Told(rounded(safe(0), safe(0), other)))
        for other in (-1e6, 0.0, THRESHOLDS[0] - 0.1)
    ]
    assert len({(tuple(t.items), tuple(t.estimates), t.rounds) for t in told}) == 1


def test_where_an_item_stands_says_nothing():
    first = rounded(THRESHOLDS[0] - 1, 10 * safe(0), 3.0)
    second = dict(zip(first, rounded(safe(1, 40.0), 0.0, 30.0), strict=True))
    seen = []
    for order in itertools.permutations(first):
        left = [value for value in order if value != first[1]]
        found = stopped(ONE_EACH, Told(order, [second[value] for value in left]))
        told = {order[i]: w for i, w in zip(found.items, found.estimates, strict=True)}
        seen.append((found.rounds, sorted(told.items())))
    assert seen == [seen[0]] * 6
    assert seen[0][0] == 2


def test_nobody_and_few():
    for data in ([], [set()], [{0}]):
        found = stopped(contributions(data, 1), ExactDraws(SeededBits(1)))
        assert found.items.tolist() == []
        assert found.rounds == len(PARTS)
