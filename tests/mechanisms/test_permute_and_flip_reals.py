"""Permute-and-flip: its numbers are within their stated error."""

import itertools
import math

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import betaln

from helpers.exactness import between, ints, within_stated_error
from helpers.permuting import CANDIDATES, HUGE, each, fixed, slack_classes
from shortlist.audit.exact.enumerator import law
from shortlist.draws.exact_draws import _Urn
from shortlist.draws.reals import Decay, ExponentialWeights, UrnChance

COUNTS = st.lists(
    st.integers(0, 50) | st.integers(0, HUGE) | st.sampled_from([HUGE, HUGE - 1, 2**40]),
    min_size=1,
    max_size=12,
    unique=True,
)


# --- reals: floats within their stated error of the ball


@fixed
@given(gaps=st.lists(st.integers(0, 60) | st.integers(0, HUGE)), epsilon=between(1e-12, 60))
@example(gaps=[0, 1, HUGE], epsilon=1e19)
@example(gaps=[0, 1, HUGE], epsilon=1e-300)
@example(gaps=[690, 693, 694, 700, 740, 745, 746, 800], epsilon=1.0)
def test_decays_are_within_their_stated_error(gaps, epsilon):
    values, errors = within_stated_error(Decay(np.array(gaps, np.int64), epsilon))
    assert (errors <= values * 2.0**-40 + 2.0**-999).all()


@fixed
@given(
    counts=COUNTS,
    epsilon=between(1e-12, 60),
    at_most=st.sampled_from([2.0**32, math.inf]),
    data=st.data(),
)
@example(counts=[HUGE, 0], epsilon=1e-6, at_most=2.0**32, data=None)
def test_weights_are_within_their_stated_error(counts, epsilon, at_most, data):
    counts = np.sort(ints(*counts))[::-1]
    sizes = np.ones(len(counts), np.int64)
    if data is not None:
        size = st.integers(0, 3) | st.integers(0, 2**32 // len(counts))
        sizes[1:] = data.draw(st.lists(size, min_size=len(counts) - 1, max_size=len(counts) - 1))
        sizes[0] = data.draw(st.integers(1, 2**32 // len(counts)))
    weights = ExponentialWeights(counts, sizes, epsilon, at_most)
    assert len(weights) == (
        len(counts) if at_most == math.inf else min(weights.single + 1, len(counts))
    )
    values, errors = within_stated_error(weights)
    assert (errors <= values * 2.0**-40 + math.exp(-44)).all()
    for i in range(weights.single):
        assert sizes[i] > 0 or values[i] == errors[i] == 0
        with ctx.workprec(300):
            decay = (-arb(epsilon) * int(counts[0] - counts[i])).exp()
            assert weights.ball(i).overlaps(decay * int(sizes[i]))
            assert weights.chance(i).ball(0).overlaps(decay)


@fixed
@given(counts=COUNTS, epsilon=between(1e-6, 60), large=between(1.0, 1e290))
def test_weights_of_multiplicities_that_are_no_whole_numbers(counts, epsilon, large):
    counts = np.sort(ints(*counts))[::-1]
    sizes = np.geomspace(1.0, large, len(counts))
    weights = ExponentialWeights(counts, sizes, epsilon, math.inf)
    values, errors = within_stated_error(weights)
    assert (errors <= values * 2.0**-40 + sizes * 2.0**-999).all()
    with ctx.workprec(300):
        for i in range(len(counts)):
            decay = (-arb(epsilon) * int(counts[0] - counts[i])).exp()
            assert weights.ball(i).overlaps(decay * float(sizes[i]))


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.parametrize("far", [0, 1, 5])
def test_what_is_lumped_is_all_beyond_and_weighs_little(epsilon, far):
    counts = np.append(1000 - np.arange(0, 200, 2), np.arange(far)[::-1])
    sizes = np.arange(len(counts)) % 3 + 1
    some, every = (ExponentialWeights(counts, sizes, epsilon, most) for most in (2.0**32, math.inf))
    assert some.single < len(counts) == every.single == len(every)
    with ctx.workprec(200):
        rest = sum((every.ball(i) for i in range(some.single, len(counts))), arb(0))
        assert some.ball(some.single).overlaps(rest)
        assert rest < (-arb(45)).exp()
        assert [some.ball(i).overlaps(every.ball(i)) for i in range(some.single)]


@each
def test_urns_are_within_their_stated_error(candidates):
    for late, early in itertools.product([0, 1, 2, 7, 1000], repeat=2):
        urn = UrnChance(candidates, late, early)
        values, errors = within_stated_error(urn)
        assert errors[0] <= values[0] * 2.0**-40
        with ctx.workprec(300):
            total = sum((candidates.ball(i) for i in range(len(candidates))), arb(0))
            total *= arb(candidates.shift).exp()
            assert urn.ball(0).overlaps((1 + late) / (1 + late + early + total))


@fixed
@given(
    k=st.integers(1, 150),
    n=st.integers(150, 1000),
    epsilon=between(1e-6, 5),
    late=st.integers(0, 20),
    early=st.integers(0, 20),
)
def test_urns_of_astronomically_many_are_within_their_stated_error(k, n, epsilon, late, early):
    candidates = slack_classes(np.arange(n) // 3, k, epsilon / 2)
    within_stated_error(UrnChance(candidates, late, early), bits=150)


@pytest.mark.parametrize("name", ["alone", "two", "ties at the top", "sequences"])
def test_answers_of_an_urn_are_those_of_one_share_that_is_never_drawn(name):
    # The share y of late answers is that until the first arrival at the rate W: 1 - y has the
    # density W (1 - y)^(W - 1), so that E y^late (1 - y)^early is a quotient of Beta functions.
    candidates = CANDIDATES[name]
    values = candidates.approximate()[0]
    rate = values.sum() * math.exp(candidates.shift)

    def answers(draws):
        urn = _Urn(candidates)
        return tuple(urn.is_late(draws) for _ in range(5))

    for told, p in law(answers).items():
        late, early = sum(told), 5 - sum(told)
        expected = math.exp(betaln(1 + late, rate + early) - betaln(1, rate))
        assert math.isclose(p, expected, rel_tol=1e-9)
