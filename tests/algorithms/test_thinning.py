"""Thinning: the law of coins, one for each item, of which hardly any is tossed."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.drawn import ONE, fixed
from helpers.exactness import agreeing, between, ints, within_stated_error
from helpers.light import KeptBack
from helpers.refusals import refusal
from shortlist.algorithms import thinning
from shortlist.algorithms.thinning import rare_coins, succeeding
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import UNIT, ExactDraws
from shortlist.draws.reals import NormalCDF, Quotient
from shortlist.evidence import WeighedItems


def light(weights, below):
    """Items of these weights in natural units; each one's count tells which it is."""
    units = np.array([round(w / UNIT) for w in weights], np.int64)
    places = np.arange(len(weights))
    return KeptBack(WeighedItems(places + 10, units, places * 7), round(below / UNIT))


def chances(threshold, sigma):
    return lambda weights: NormalCDF(weights - round(threshold / UNIT), sigma)


def law_of(items, its_chances):
    def run(draws):
        named = succeeding(items, its_chances, draws)
        return frozenset() if named is None else frozenset(named.counts.tolist())

    return law(run)


def coins(items, its_chances):
    """One coin for each item: the definition."""
    p = its_chances(items.items.weights).approximate()[0].tolist()
    return {
        frozenset(7 * i for i, yes in enumerate(named) if yes): math.prod(
            x if yes else 1 - x for x, yes in zip(p, named, strict=True)
        )
        for named in itertools.product([False, True], repeat=len(p))
    }


def distance(items, its_chances):
    found, oracle = law_of(items, its_chances), coins(items, its_chances)
    return max(abs(found.get(o, 0) - oracle.get(o, 0)) for o in found.keys() | oracle.keys())


CASES = [
    ([], 1.0),
    ([0.5], 1.0),
    ([0.1, 0.9, 0.5], 1.0),
    ([0.3, 0.3, 1.99, 0.1], 2.0),
    ([0.1, 0.2], 9.0),  # whose largest chance is 1, for all that floats know
]


@pytest.mark.parametrize(("weights", "below"), CASES)
@pytest.mark.parametrize("sigma", [0.4, 1.0, 4.0])
def test_the_law_is_that_of_a_coin_for_each_item(weights, below, sigma):
    assert distance(light(weights, below), chances(1.5, sigma)) < 1e-12


def test_items_of_hardly_any_chance_succeed_by_their_own():
    items, its_chances = light([0.1, 0.9], 1.0), chances(9.0, 1.0)
    found, oracle = law_of(items, its_chances), coins(items, its_chances)
    for outcome, p in oracle.items():
        assert math.isclose(found.get(outcome, 0), p, rel_tol=1e-10, abs_tol=1e-29)


# --- coins of numbers that are all known, of which the rare ones are thinned


GAPS = [-1.9, -3.0, 0.4, -1.0, -1.0, 2.5]
RARE_BELOW = round(-0.9 / UNIT)


def distance_of_coins(its_chances, rare_below=RARE_BELOW, gaps=GAPS):
    units = np.array([round(gap / UNIT) for gap in gaps], np.int64)

    def run(draws):
        return tuple(rare_coins(units, its_chances, rare_below, draws).tolist())

    found, tossed = law(run), law(lambda draws: tuple(draws.coin(its_chances(units)).tolist()))
    return max(abs(found.get(o, 0) - tossed.get(o, 0)) for o in found.keys() | tossed.keys())


@pytest.fixture
def always(monkeypatch):
    """Also few rare numbers are thinned."""
    monkeypatch.setattr(thinning, "_WORTH_THINNING", 0)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("rare_below", [RARE_BELOW, round(-9 / UNIT), round(9 / UNIT)])
@pytest.mark.parametrize("sigma", [0.4, 1.0, 4.0])
def test_thinned_coins_have_the_law_of_tossed_ones(sigma, rare_below):
    # Where all are rare, each set of them that may be drawn is a branch: four will do.
    gaps = GAPS if rare_below <= 0 else GAPS[:4]
    assert distance_of_coins(chances(0.0, sigma), rare_below, gaps) < 1e-12


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("gaps", [[], [3.0], [-3.0]])
def test_coins_of_none_and_of_one(gaps):
    assert distance_of_coins(chances(0.0, 1.0), gaps=gaps) < 1e-12


def test_of_very_many_coins_few_are_drawn():
    tossed = []

    class Counting(ExactDraws):
        def coin(self, chances):
            tossed.append(len(chances))
            return super().coin(chances)

    gaps = np.full(100_000, round(-3.5 / UNIT))
    gaps[::1000] = round(3.5 / UNIT)
    heads = rare_coins(gaps, chances(0.0, 1.0), round(-3 / UNIT), Counting(SeededBits(3)))
    assert heads[::1000].mean() > 0.95
    assert abs(heads.sum() - 100 - 23) < 30
    assert tossed[0] == 100
    assert 60 < tossed[1] < 220


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("Quotient", lambda numbers, _most: numbers),
        ("_how_many", lambda n, _chance, _draws: n),
        (
            "_at_least_all",
            lambda chances, below: Fraction(chances(ints(below - 1)).approximate()[0][0]) / 2,
        ),
        ("sample", lambda _n, size, _draws: np.arange(size)),
    ],
)
def test_wrongly_thinned_coins_are_caught(monkeypatch, name, wrong):
    monkeypatch.setattr(thinning, name, wrong)
    assert distance_of_coins(chances(0.0, 1.0)) > 1e-3


# --- mistakes


def test_to_accept_with_the_whole_chance_once_more_is_caught(monkeypatch):
    monkeypatch.setattr(thinning, "Quotient", lambda numbers, _: numbers)
    assert distance(light([0.1, 0.9, 0.5], 1.0), chances(1.5, 1.0)) > 0.1


def test_ranks_drawn_with_replacement_are_caught(monkeypatch):
    monkeypatch.setattr(thinning, "sample", lambda n, size, draws: draws.integer(np.full(size, n)))
    items = light([0.1, 0.9, 0.5], 1.0)
    monkeypatch.setattr(items, "fetch", items.items.at)
    assert distance(items, chances(1.5, 1.0)) > 0.01


def test_a_largest_chance_that_is_too_small_is_caught(monkeypatch):
    whole = thinning._at_least_all
    monkeypatch.setattr(thinning, "_at_least_all", lambda *args: whole(*args) * Fraction(7, 10))
    assert distance(light([0.9, 0.95], 1.0), chances(1.5, 1.0)) > 0.05


def test_to_draw_how_many_by_another_number_of_items_is_caught(monkeypatch):
    whole = thinning._how_many
    monkeypatch.setattr(thinning, "_how_many", lambda n, p, draws: min(n, whole(n + 1, p, draws)))
    assert distance(light([0.1, 0.9, 0.5], 1.0), chances(1.5, 1.0)) > 0.01


# --- exactness and speed


@pytest.mark.parametrize("seed", range(30))
def test_the_slow_way_draws_the_same(seed):
    def draw(draws):
        named = succeeding(light([0.4, 0.9, 0.6, 0.2], 1.0), chances(1.2, 0.5), draws)
        return None if named is None else named.positions.tolist()

    agreeing(seed, draw)


@fixed
@given(z=st.floats(-36, 5), sd=between(1e-3, 1e6), less=st.integers(0, 2**30))
def test_no_light_item_has_more_than_the_largest_chance(z, sd, less):
    below = max(round(-z * sd / UNIT), 2)
    threshold = 2 * below
    reals = NormalCDF(ints(-threshold + below - 1 - less), sd)
    most = thinning._at_least_all(lambda w: NormalCDF(w - threshold, sd), below)
    assert reals.ball(0) / float(most) < 1 + 1e-9
    assert most <= 1


@fixed
@given(
    gaps=st.lists(st.integers(-(2**38), 0), min_size=1, max_size=5),
    sd=between(1e-1, 1e3),
    divisor=st.fractions(Fraction(1, 10**15), 1),
)
def test_quotients_are_within_their_stated_error(gaps, sd, divisor):
    within_stated_error(Quotient(NormalCDF(ints(*gaps), sd), divisor + Fraction(1, 2**60)))


@pytest.mark.parametrize("z", [5.0, 7.0, 30.0])
def test_a_thousand_million_items_take_next_to_nothing(z):
    class Huge(KeptBack):
        n = 10**9

        def __post_init__(self):
            self.asked = []

        def fetch(self, ranks):
            assert len(set(ranks.tolist())) == len(ranks)
            self.asked.append(len(ranks))
            return WeighedItems(ranks, np.full(len(ranks), self.below - 1), ranks)

    items, draws = Huge(None, ONE), ExactDraws(SeededBits(3))
    runs = 50
    named = [succeeding(items, chances(1 + z, 1.0), draws) for _ in range(runs)]
    mean = runs * 10**9 * math.erfc(z / math.sqrt(2)) / 2
    n = sum(0 if found is None else len(found.positions) for found in named)
    assert abs(n - mean) <= 5 * math.sqrt(mean) + 0.5
    assert abs(sum(items.asked) - mean) <= 0.002 * mean + 5 * math.sqrt(mean) + 0.5


@pytest.mark.parametrize("weight", [2**33 + 12345, 0, -12345])
def test_items_that_are_not_light_any_more_are_refused_and_not_quoted(weight):
    items = light([0.5] * 5, 1.0)
    items.items.weights[:] = weight
    message = refusal(
        lambda: succeeding(items, chances(-5.0, 1.0), ExactDraws(SeededBits(1))), "changed while"
    )
    assert "12345" not in str(message)


def test_fewer_items_than_were_asked_for_are_refused(monkeypatch):
    items = light([0.5] * 5, 1.0)
    monkeypatch.setattr(items, "fetch", lambda ranks: items.items.at(ranks[1:]))
    refusal(
        lambda: succeeding(items, chances(-5.0, 1.0), ExactDraws(SeededBits(1))), "changed while"
    )
