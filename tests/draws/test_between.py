"""Normal noise within ranges: its intervals, its balls, its law, the slow path's same outcome."""

import math

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from helpers.drawn import ONE, TOP, fixed, in_interval
from helpers.exactness import agreeing, between, ints
from helpers.laws import agree
from shortlist.audit.exact._order_laws import order_and_cell_law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws, Order
from shortlist.draws.noise import OPEN, Normal, NormalBetween

ends = st.just(OPEN) | st.floats(-30, 30).map(lambda z: round(z * ONE))


def quantile(uniform, sd, low, high):
    """By the definition, of the range or its mirror image."""
    sign = -1 if low + high > 0 else 1
    near, far = sorted((sign * low, sign * high))

    def cap(end):
        if abs(end) == OPEN:
            return arb(int(end > 0))
        return (-arb(end) / ONE / arb(sd) / arb(2).sqrt()).erfc() / 2

    p = cap(near) + arb(uniform) * (cap(far) - cap(near))
    return -sign * arb(2).sqrt() * (2 * p).erfcinv() * arb(sd)


@fixed
@given(
    word=st.integers(0, TOP),
    sd=between(0.3, 30),
    low=ends,
    high=ends,
    weight=st.sampled_from([1.0, 0.3]),
)
def test_noise_is_within_its_interval_and_its_range(word, sd, low, high, weight):
    low = -low if low == OPEN else low
    if low >= high or (min(abs(low), abs(high)) / ONE / sd > 30 and low * high > 0):
        return

    def value(uniform):
        within = quantile(uniform, sd, low, high) * arb(weight)
        assert low == -OPEN or within >= arb(weight) * low / ONE - 1e-100
        assert high == OPEN or within <= arb(weight) * high / ONE + 1e-100
        return within

    in_interval(NormalBetween(sd, weight, ints(low), ints(high)), value, word)


def test_its_interval_is_narrow_where_floats_can_tell():
    words = SeededBits(1).words(1000)
    for low, high in [(-2, 1), (-OPEN, 3), (2, OPEN), (1, 1.5), (-9, -8), (-OPEN, OPEN)]:
        units = [round(x * ONE) if abs(x) < OPEN else x for x in (low, high)]
        noise = NormalBetween(1.0, 1.0, *(np.full(1000, x) for x in units))
        least, most = noise.interval(words)
        assert np.median(most - least) < 1e-10


# --- its law

RANGES = ints(-OPEN, -ONE // 2, ONE), ints(0, OPEN, 2 * ONE)
SECOND = ints(-OPEN, ONE // 4, -ONE), ints(OPEN, OPEN, ONE)
SCORES = ints(ONE, 0, ONE // 2)


def within(factor=1.0):
    return [
        NormalBetween(1.5 * factor, 0.25, *RANGES),
        NormalBetween(1.1 * factor, 0.75, *SECOND),
    ]


def test_ranges_open_on_one_side_are_a_cut():
    at, above = ints(ONE, 0), np.array([True, False])
    cut = [Normal(1.5, 0.25, at, above), Normal(1.1, 0.75)]
    same = [
        NormalBetween(1.5, 0.25, np.where(above, at, -OPEN), np.where(above, OPEN, at)),
        NormalBetween(1.1, 0.75, np.full(2, -OPEN), np.full(2, OPEN)),
    ]
    given = {"at_least": ints(ONE // 3, ONE // 2), "k": 1}
    laws = (
        order_and_cell_law(Order(ints(0, ONE), noises, **given), [0.8, 1.5])
        for noises in (cut, same)
    )
    known, found = ({o: float(p) for o, p in law.items()} for law in laws)
    agree(found, known, 1e-12)


def excess(noises, runs=2000):
    """How far frequencies are from the law, in standard errors, at most."""
    edges = [0.6, 1.1]
    law = order_and_cell_law(Order(SCORES, within(), at_least=np.full(3, ONE // 2), k=2), edges)
    draws, seen = ExactDraws(SeededBits(7)), {}
    for _ in range(runs):
        told = draws.order(Order(SCORES, noises, digits=9, at_least=np.full(3, ONE // 2), k=2))
        cells = tuple(int(np.searchsorted(edges, value)) for value in told.values)
        outcome = tuple(told.positions.tolist()), cells
        seen[outcome] = seen.get(outcome, 0) + 1
    worst = 0.0
    for outcome, p in law.items():
        mean = runs * float(p)
        if mean > 5:
            worst = max(worst, abs(seen.get(outcome, 0) - mean) / math.sqrt(mean))
    return worst


def test_frequencies_are_those_of_the_law():
    assert excess(within()) < 4
    assert excess(within(0.7)) > 6


@pytest.mark.parametrize("seed", range(20))
def test_the_slow_way_draws_the_same(seed):
    def draw(draws):
        told = draws.order(Order(SCORES, within(), digits=2, at_least=np.full(3, ONE // 2), k=2))
        return told.positions.tolist(), told.values.tolist()

    agreeing(seed, draw)
