"""Sequences by their slack: against all sequences, exact integers, and balls."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from helpers.exactness import OnesFirst, between, ints, within_stated_error
from shortlist import kernels
from shortlist.algorithms import sequences as sequences_module
from shortlist.algorithms.grouping import EqualCounts
from shortlist.algorithms.sequences import Sequences, _FirstPlaces
from shortlist.algorithms.slack import SlackClasses, SlackWeights
from shortlist.audit.exact.enumerator import law
from shortlist.draws import ExactDraws
from shortlist.mechanisms.joint import draw_joint

fixed = settings(derandomize=True, deadline=None, max_examples=60)
HUGE = 2**62
VALUES = [0, 1, 2, 4, 5]
UNIVERSES = [
    counts
    for d in range(1, 6)
    for counts in itertools.combinations_with_replacement(VALUES[::-1], d)
]


def sequences(counts, k, most=None):
    return Sequences(EqualCounts.of(np.array(counts, np.int64)), k, most)


@cache
def slacks(counts, k):
    """The slack of each sequence of k items, by the definition."""
    largest = sorted(counts, reverse=True)[:k]
    return {
        items: max(top - counts[i] for top, i in zip(largest, items, strict=True))
        for items in itertools.permutations(range(len(counts)), k)
    }


def at_most(counts, k, slack):
    return sum(other <= slack for other in slacks(counts, k).values())


SMALL = [(counts, k) for counts in UNIVERSES for k in range(1, len(counts) + 1)]


@pytest.mark.parametrize("dense", [0, 10**9])
def test_pieces_of_all_small_universes(monkeypatch, dense):
    monkeypatch.setattr(sequences_module, "_DENSE", dense)
    for counts, k in SMALL:
        every = sequences(counts, k)
        attained = sorted(set(slacks(counts, k).values()))
        assert every.starts.tolist() == attained
        assert every.complete
        assert every.largest == counts[0] - counts[-1]
        numbers = [at_most(counts, k, start) for start in attained]
        logs = np.log(numbers)
        assert np.allclose(every.logs, logs, rtol=every.error, atol=1e-15)
        assert np.allclose(every.log_jumps, np.diff(logs, prepend=0), rtol=1e-12, atol=1e-15)
        assert every.log_all >= math.log(len(slacks(counts, k)))


def test_numbers_of_sequences_of_all_small_universes():
    for counts, k in SMALL:
        every = sequences(counts, k)
        for t in range(every.largest + 3):
            assert every.at_most(t) == at_most(counts, k, t)
            choices = every.choices(t)
            assert math.prod(choices.tolist()) == every.at_most(t)
            assert (choices >= 1).all()


@pytest.mark.parametrize("dense", [0, 10**9])
def test_pieces_up_to_a_cut_off(monkeypatch, dense):
    monkeypatch.setattr(sequences_module, "_DENSE", dense)
    for counts, k in SMALL:
        every = sequences(counts, k)
        for most in range(every.largest + 2):
            part = sequences(counts, k, most)
            known = int((every.starts <= most).sum())
            assert part.starts.tolist() == every.starts[:known].tolist()
            assert part.log_jumps.tolist() == every.log_jumps[:known].tolist()
            assert part.logs.tolist() == every.logs[:known].tolist()
            assert part.complete is (most >= every.largest)


def test_sequences_are_uniform_among_those_of_at_most_and_of_exactly_a_slack():
    for counts, k in [(counts, k) for counts, k in SMALL if len(counts) <= 4]:
        every = sequences(counts, k)
        for t in every.starts.tolist():
            for draw, slack_is in (
                (every.draw_at_most, lambda s, t=t: s <= t),
                (every.draw_exactly, lambda s, t=t: s == t),
            ):
                drawn = law(lambda draws, t=t, draw=draw: tuple(draw(t, draws).tolist()))
                expected = [items for items, s in slacks(counts, k).items() if slack_is(s)]
                assert drawn.keys() == set(expected)
                assert all(math.isclose(p, 1 / len(expected), rel_tol=1e-9) for p in drawn.values())


def test_first_places_of_all_small_universes():
    for counts, k in SMALL:
        every = sequences(counts, k)
        for t in every.starts[1:].tolist():
            numbers = [0] * k
            for items, s in slacks(counts, k).items():
                if s == t:
                    tops = zip(counts[:k], items, strict=True)
                    numbers[[top - counts[i] for top, i in tops].index(t)] += 1
            places = _FirstPlaces(every, t)
            assert [int(places.ball(i).unique_fmpz()) for i in range(k)] == numbers
            values, _ = within_stated_error_up_to_a_factor(places)
            assert np.allclose(values / values.sum(), np.array(numbers) / sum(numbers))


def within_stated_error_up_to_a_factor(reals):
    """The floats may all be off by one factor, which leaves open what the largest is."""
    values, errors = reals.approximate()
    largest = int(values.argmax())
    with ctx.workprec(4000):
        truths = [reals.ball(i) for i in range(len(reals))]
        # One common factor must fit them all: the intervals of what it may be overlap.
        low, high = arb(0), None
        for value, error, truth in zip(values.tolist(), errors.tolist(), truths, strict=True):
            if truth == 0:
                assert value == error == 0
                continue
            assert value + error > 0
            low = low.max((value - arb(error)) / truth)
            ratio = (value + arb(error)) / truth
            high = ratio if high is None else high.min(ratio)
        assert low <= high
    assert errors[largest] <= 2.0**-30 * values[largest]
    return values, errors


# --- large universes: exact integers

RANDOM = np.random.default_rng(5)
LARGE = {
    "Zipf": ((10**7 / np.arange(1, 3001) ** 1.1).astype(np.int64), 200),
    "Zipf, many ties": ((2000 / np.arange(1, 3001)).astype(np.int64), 200),
    "flat": (10**6 - np.arange(2500), 150),
    "flat with ties": (10**6 - np.arange(3000) // 7, 200),
    "equal": (np.full(3000, 17), 200),
    "two values": (np.repeat(ints(9, 4), [60, 2000]), 100),
    "two values far apart": (np.repeat(ints(HUGE, 0), [3, 3000]), 200),
    "many ties at the top": (np.repeat(ints(9, 4), [200, 4000]), 200),
    "huge gaps": (np.sort(RANDOM.integers(0, HUGE, 500))[::-1], 100),
    "powers of 2": (2 ** np.arange(62, -1, -1, dtype=np.int64), 40),
    "one sequence": (np.arange(200)[::-1] * 1000, 200),
}
large = pytest.mark.parametrize(("counts", "k"), LARGE.values(), ids=LARGE)


def some(n, many=40):
    """Numbers of all ranges among n."""
    steps = np.unique(np.geomspace(1, n, many).astype(int)) - 1
    return sorted({*steps.tolist(), *(n - 1 - steps).tolist()})


@large
@pytest.mark.parametrize("dense", [0, 4])
def test_logarithms_and_jumps_are_within_their_stated_error(monkeypatch, counts, k, dense):
    monkeypatch.setattr(sequences_module, "_DENSE", dense)
    every = sequences(counts, k)
    starts, logs, jumps = every.starts.tolist(), every.logs, every.log_jumps
    assert starts == sorted(set(starts))
    assert every.error * logs[-1] < 2.0**-30
    assert every.log_all >= logs[-1]
    with ctx.workprec(6000):
        assert arb(every.log_all) >= arb(math.perm(len(counts), k)).log()
        assert every.at_most(starts[-1]) == every.at_most(HUGE) == math.perm(len(counts), k)
        for i in some(len(starts)):
            number = every.at_most(starts[i])
            before = every.at_most(starts[i] - 1) if i else 1
            log, jump = arb(number).log(), arb(fmpq(number, before)).log()
            assert abs(log - float(logs[i])) <= every.error * log
            assert abs(jump - float(jumps[i])) <= every.error * jump
            assert i == 0 or jump > 0


def test_running_sums_lose_nothing_of_very_many_small_terms():
    terms = np.append(1.0, np.full(10**6, 2.0**-54))
    sums = np.empty_like(terms)
    kernels.add_up(terms, sums)
    exact = 1 + np.arange(len(terms)) * 2.0**-54
    assert np.abs(sums - exact).max() <= 2.0**-52
    assert exact[-1] - 1 > 2.0**-35  # which a plain sum would lose
    kernels.add_up(terms[::-1].copy(), sums)
    assert abs(sums[-1] - exact[-1]) <= 2.0**-52


def test_the_stated_error_is_not_far_above_the_real_one():
    every = sequences(*LARGE["flat"])
    with ctx.workprec(6000):
        off = max(
            abs(arb(every.at_most(int(every.starts[i]))).log() / float(every.logs[i]) - 1)
            for i in some(len(every.starts))[1:]
        )
    assert off * 10_000 >= every.error


@pytest.mark.parametrize("name", [name for name in LARGE if name != "equal"])
def test_places_of_large_universes(name):
    counts, k = LARGE[name]
    every = sequences(counts, k)
    for i in some(len(every.starts), 6)[1:]:
        slack = int(every.starts[i])
        places = _FirstPlaces(every, slack)
        within_stated_error_up_to_a_factor(places)
        exactly = every.at_most(slack) - every.at_most(slack - 1)
        with ctx.workprec(6000):
            assert sum(int(places.ball(j).unique_fmpz()) for j in range(k)) == exactly


# --- weights: floats within their stated error of the ball

DECAYS = [5e-7, 1e-3, 0.05, 0.5, 5.0, 25.0]
COUNTS = st.lists(
    st.integers(0, 30) | st.sampled_from([HUGE, HUGE - 7, 2**40, 10**6]) | st.integers(0, 2000),
    min_size=1,
    max_size=40,
)


def kinds_of_weights(groups, k, decay):
    cut = SlackWeights.of(Sequences(groups, k), decay)
    yield cut
    yield SlackWeights(Sequences(groups, k), decay)
    yield SlackClasses(Sequences(groups, k), decay)
    if not cut.lists.complete:
        yield cut.beyond()


@fixed
@given(counts=COUNTS, share=st.floats(0, 1), epsilon=between(1e-6, 50))
@example(counts=[HUGE, 0], share=0.0, epsilon=1e-6)
@example(counts=[HUGE, 0], share=1.0, epsilon=50)
@example(counts=[HUGE, HUGE - 1, 2**61, 0], share=0.5, epsilon=1e-12)
@example(counts=[5, 5, 5], share=1.0, epsilon=1.0)
@example(counts=[HUGE, 3, 2, 1], share=0.5, epsilon=1500.0)
def test_weights_are_within_their_stated_error(counts, share, epsilon):
    groups, k = EqualCounts.of(np.array(counts, np.int64)), 1 + int(share * (len(counts) - 1))
    for weights in kinds_of_weights(groups, k, epsilon / 2):
        within_stated_error(weights, some(len(weights)))


@large
@pytest.mark.parametrize("decay", DECAYS)
def test_weights_of_large_universes_are_within_their_stated_error(counts, k, decay):
    groups = EqualCounts.of(counts)
    for weights in kinds_of_weights(groups, k, decay):
        values, errors = weights.approximate()
        known = len(weights.starts) if isinstance(weights, SlackWeights) else len(weights)
        within_stated_error(weights, some(known, 8), bits=600)
        assert errors[:known].sum() < 2.0**-28 * values.sum()
        assert errors[known:].sum() <= math.exp(-42) * values.sum()


def ball_of_sum(weights):
    return sum((weights.ball(i) for i in range(len(weights))), arb(0)) * arb(weights.shift).exp()


def close(one, other, bits=150):
    return abs(one - other) <= arb(2) ** -bits * one


TAILS = [
    ([9, 8, 0], 2, 8.0),
    ([400, 300, 299, 100, 7, 7, 3], 3, 0.9),
    ([HUGE, HUGE - 5, 2**40, 10, 9], 2, 1e-3),
    ([HUGE] * 5 + [4] * 30, 20, 0.1),
    (np.append(LARGE["Zipf"][0][:60], 0), 12, 0.05),
]


@pytest.mark.parametrize(("counts", "k", "decay"), TAILS)
def test_what_is_lumped_weighs_as_much_as_its_members(counts, k, decay):
    groups = EqualCounts.of(np.array(counts, np.int64))
    cut, every = (
        SlackWeights.of(Sequences(groups, k), decay),
        SlackWeights(Sequences(groups, k), decay),
    )
    beyond = cut.beyond()
    assert not cut.lists.complete
    assert len(cut) == len(cut.starts) + 1
    assert beyond.starts[0] == cut.lists.most + 1
    assert np.unique([*cut.starts, *beyond.starts]).tolist() == sorted(
        {*every.starts.tolist(), int(beyond.starts[0])}
    )
    with ctx.workprec(300):
        rest = cut.ball(len(cut.starts)) * arb(cut.shift).exp()
        assert close(rest, ball_of_sum(beyond))
        assert close(ball_of_sum(cut), ball_of_sum(every))
        assert rest <= (-arb(45)).exp() * ball_of_sum(every)
        # Of the members, each weighs what it weighs where nothing is cut off.
        first = len(every.starts) - len(beyond.starts) + 1
        for i in range(first, len(every.starts)):
            assert close(beyond.raw(i - first + 1), every.raw(i))


def joint_law(counts, k, decay, least=0):
    """Of a slack from `least` on, by its weight, and a uniform sequence of at most that slack."""
    odds = {
        items: math.exp(-decay * max(s, least)) for items, s in slacks(tuple(counts), k).items()
    }
    return {items: weight / sum(odds.values()) for items, weight in odds.items()}


def test_sequences_drawn_from_weights_wherever_these_are_cut_off():
    for counts, k in [(counts, k) for counts, k in SMALL if len(counts) <= 3]:
        groups = EqualCounts.of(np.array(counts, np.int64))
        for most in range(counts[0] - counts[-1] + 2):
            every = SlackWeights(Sequences(groups, k), 0.6, least=most)
            cut = SlackWeights(Sequences(groups, k, most), 0.6)
            for weights, least in (every, most), (cut, 0):
                within_stated_error(weights)
                drawn = law(lambda draws, w=weights: tuple(draw_joint(w, draws).tolist()))
                expected = joint_law(counts, k, 0.6, least)
                assert drawn.keys() == expected.keys()
                assert all(math.isclose(drawn[s], p, rel_tol=1e-9) for s, p in expected.items())


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize(("counts", "k", "decay"), TAILS)
def test_a_draw_that_lands_in_what_is_lumped(counts, k, decay, margin):
    weights = SlackWeights.of(Sequences(EqualCounts.of(np.array(counts, np.int64)), k), decay)
    assert ExactDraws(OnesFirst(5, 4), margin).choice(weights) == len(weights.starts)
    drawn = draw_joint(weights, ExactDraws(OnesFirst(5, 4), margin)).tolist()
    assert drawn == draw_joint(weights, ExactDraws(OnesFirst(5, 4))).tolist()
    assert len(set(drawn)) == k
    assert all(0 <= position < len(counts) for position in drawn)


@fixed
@given(counts=COUNTS, share=st.floats(0, 1), epsilon=between(1e-6, 50))
def test_weights_and_classes_have_the_same_sum(counts, share, epsilon):
    groups, k = EqualCounts.of(np.array(counts, np.int64)), 1 + int(share * (len(counts) - 1))
    cut, _, classes, *_ = kinds_of_weights(groups, k, epsilon / 2)
    assume(len(classes) < 400)
    with ctx.workprec(300):
        normaliser = ball_of_sum(classes)
        assert close(ball_of_sum(cut), normaliser)
        log_sum, error = cut.log_sum()
        assert abs(normaliser.log() - arb(cut.shift) - arb(log_sum)) <= error
        assert error < 2.0**-20


@pytest.mark.parametrize("decay", [0.01, 0.3, 2.0])
def test_the_sum_is_the_normaliser_of_all_sequences(decay):
    for counts, k in SMALL:
        groups = EqualCounts.of(np.array(counts, np.int64))
        normaliser = math.fsum(math.exp(-decay * s) for s in slacks(counts, k).values())
        for weights in kinds_of_weights(groups, k, decay):
            if isinstance(weights, SlackWeights) and weights.least:
                continue
            values, _ = weights.approximate()
            assert math.isclose(values.sum() * math.exp(weights.shift), normaliser, rel_tol=1e-12)
            if isinstance(weights, SlackWeights):
                log_z = weights.log_sum()[0] + weights.shift
                assert math.isclose(log_z, math.log(normaliser), rel_tol=1e-12, abs_tol=1e-12)


def test_classes_are_sequences_of_equal_slack_each_with_their_chance():
    for counts, k in SMALL:
        classes = SlackClasses(sequences(counts, k), 0.7)
        for i, t in enumerate(classes.lists.starts.tolist()):
            size = sum(s == t for s in slacks(counts, k).values())
            chance = classes.chance(i)
            assert len(chance) == 1
            with ctx.workprec(200):
                weight = classes.ball(i) * arb(classes.shift).exp()
                assert close(weight, size * chance.ball(0))
                assert close(chance.ball(0), (-arb(0.7) * t).exp())
            within_stated_error(chance)


@pytest.mark.parametrize("counts", [[HUGE, 0], [HUGE, HUGE // 2, 0], list(range(3000))])
@pytest.mark.parametrize("decay", [1e-300, 1e-9, 1.0, 1e3, 1e19])
def test_decays_and_gaps_of_any_size_have_few_pieces(counts, decay):
    groups = EqualCounts.of(np.array(counts, np.int64))
    weights = SlackWeights.of(Sequences(groups, 2), decay)
    values, errors = weights.approximate()
    assert len(weights) <= 2 * len(counts) + 2
    assert np.isfinite(values).all()
    assert np.isfinite(errors).all()
    assert values.sum() > 0
    within_stated_error(weights, some(len(weights), 5), bits=1500)
