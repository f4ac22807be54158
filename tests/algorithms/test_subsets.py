"""Sets by their slack: against all sets, exact integers, and balls."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.exactness import between, within_stated_error
from shortlist.algorithms import subsets as module
from shortlist.algorithms.competition import Competition, Crowded
from shortlist.algorithms.grouping import EqualCounts
from shortlist.algorithms.slack import SlackClasses, SlackWeights
from shortlist.algorithms.subsets import LARGEST_COUNT, Subsets, _AmongLast, _FirstMissing
from shortlist.audit.exact.enumerator import law
from shortlist.mechanisms.joint import draw_joint

HUGE = LARGEST_COUNT
VALUES = [0, 1, 2, 4, 5]
SMALL = [
    (counts, k)
    for d in range(2, 6)
    for counts in itertools.combinations_with_replacement(VALUES[::-1], d)
    for k in range(1, d)
]


def subsets(counts, k, most=None):
    return Subsets(EqualCounts.of(np.array(counts, np.int64)), k, most)


@cache
def losses(counts, k):
    """Of each set of k items, by the definition: outside at most, without inside at least."""
    return {
        s: max(c for i, c in enumerate(counts) if i not in s) - min(counts[i] for i in s)
        for s in itertools.combinations(range(len(counts)), k)
    }


def slacks(counts, k):
    """How much worse than the best each set is."""
    least = min(losses(counts, k).values())
    return {s: loss - least for s, loss in losses(counts, k).items()}


@pytest.mark.parametrize("dense", [0, 10**9])
def test_pieces_of_all_small_universes(monkeypatch, dense):
    monkeypatch.setattr(module, "_DENSE", dense)
    for counts, k in SMALL:
        every, found = subsets(counts, k), slacks(counts, k)
        attained = sorted(set(found.values()))
        assert every.lead == -min(losses(counts, k).values())
        assert every.starts.tolist() == attained
        assert every.largest == counts[0] - counts[-1] + every.lead
        numbers = [sum(s <= start for s in found.values()) for start in attained]
        assert np.allclose(every.logs, np.log(numbers), rtol=1e-13, atol=1e-14)
        shares = [(n - m) / n for m, n in itertools.pairwise([0, *numbers])]
        assert np.allclose(every.fresh, shares, rtol=1e-13)
        assert every.log_all >= math.log(len(found))
        for slack in range(every.largest + 3):
            number = sum(s <= slack for s in found.values())
            assert int(every.ball_of_at_most(slack).unique_fmpz()) == number
            exactly = sum(s == slack for s in found.values())
            assert int(every.ball_of_exactly(slack).unique_fmpz()) == exactly
            log, error = every.log_at_most(slack)
            assert abs(log - math.log(number)) <= error < 1e-9


def test_pieces_up_to_a_cut_off():
    for counts, k in SMALL:
        every = subsets(counts, k)
        for most in range(every.largest + 2):
            part, known = subsets(counts, k, most), int((every.starts <= most).sum())
            assert part.starts.tolist() == every.starts[:known].tolist()
            assert part.logs.tolist() == every.logs[:known].tolist()
            assert part.complete is (most >= every.largest)


def test_sets_are_uniform_among_those_of_at_most_and_of_exactly_a_slack():
    for counts, k in [*SMALL[:200], *SMALL[200::5]]:
        every, found = subsets(counts, k), slacks(counts, k)
        for t in every.starts.tolist():
            for draw, is_one in (
                (every.draw_at_most, lambda s, t=t: s <= t),
                (every.draw_exactly, lambda s, t=t: s == t),
            ):
                drawn = law(lambda draws, t=t, draw=draw: tuple(draw(t, draws).tolist()))
                expected = [s for s, slack in found.items() if is_one(slack)]
                assert drawn.keys() == set(expected)  # each in rising order of positions
                assert all(math.isclose(p, 1 / len(expected), rel_tol=1e-9) for p in drawn.values())


def test_the_sum_over_pieces_is_that_over_sets_wherever_they_are_cut_off():
    for counts, k in SMALL:
        if len(counts) > 4:
            continue
        odds = {s: math.exp(-0.6 * slack) for s, slack in slacks(counts, k).items()}
        every = subsets(counts, k)
        for most in (*range(0, every.largest + 1, 4), None):
            weights = SlackWeights(subsets(counts, k, most), 0.6)
            within_stated_error(weights)
            drawn = law(lambda draws, w=weights: tuple(draw_joint(w, draws).tolist()))
            assert drawn.keys() == odds.keys()
            total = sum(odds.values())
            assert all(math.isclose(drawn[s], odds[s] / total, rel_tol=1e-9) for s in odds)


def test_competition_counts_loss_and_not_what_the_best_is_ahead_by():
    for counts, k in SMALL:
        found, decay, floor = losses(counts, k), 0.45, 0.7
        near = Competition(subsets(counts, k), decay, floor)
        numbers = {t: sum(loss <= t for loss in found.values()) for t in range(-6, 40)}
        w = sum(n * math.exp(-decay * t) for t, n in numbers.items() if n >= math.exp(floor))
        w += numbers[39] * math.exp(-decay * 40) / -math.expm1(-decay)  # all that follow
        w *= -math.expm1(-decay)
        if near.weights is None:
            assert len(found) < math.exp(floor)
            continue
        log_w = near.weights.log_sum()[0] + near.weights.shift
        assert math.isclose(log_w, math.log(w), rel_tol=1e-9, abs_tol=1e-9)


# --- check values of the formulas, and large universes


def test_check_values():
    first, second = (30, 22, 21, 15, 9, 9, 4, 1), (5, 5, 4, 4, 4, 2, 0)
    every = subsets(first, 3)
    assert every.lead == 6
    numbers = [int(every.ball_of_at_most(6 + t).unique_fmpz()) for t in (*range(13), 29)]
    assert numbers == [1, 1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 3, 5, 56]
    tied = subsets(second, 4)
    assert tied.lead == 0
    assert [round(math.exp(log)) for log in tied.logs] == [3, 5, 8, 15, 19, 35]
    for lists, decay, log_z, log_w in (
        (every, 0.475, 2.856549, -3.751451),
        (every, 0.05, 3.022382, 2.957895),
        (tied, 0.35, 2.494483, 1.805348),
    ):
        weights = SlackWeights(lists, decay)
        found = weights.log_sum()[0] + weights.shift + decay * lists.lead
        assert math.isclose(found, log_z, abs_tol=1e-6)
        w = Competition(lists, decay, lists.k - 1).weights
        assert math.isclose(w.log_sum()[0] + w.shift, log_w, abs_tol=1e-6)
    assert Competition(every, 0.475, 2).starts == 13 + 6
    assert Competition(tied, 0.35, 3).starts == 5


RANDOM = np.random.default_rng(5)
LARGE = {
    "Zipf": ((10**7 / np.arange(1, 3001) ** 1.1).astype(np.int64), 200),
    "Zipf, many ties": ((2000 / np.arange(1, 3001)).astype(np.int64), 200),
    "flat with ties": (10**6 - np.arange(3000) // 7, 200),
    "equal": (np.full(3000, 17), 200),
    "two values far apart": (np.repeat(np.array([HUGE, 0]), [3, 3000]), 200),
    "a tie across the last place": (np.repeat(np.array([9, 4, 1]), [150, 100, 2000]), 200),
    "a wide gap at the last place": (np.repeat(np.array([HUGE, 4, 1]), [200, 100, 2000]), 200),
    "huge gaps": (np.sort(RANDOM.integers(0, HUGE, 500))[::-1].copy(), 100),
    "all but one": (np.arange(201)[::-1] * 1000, 200),
}
large = pytest.mark.parametrize(("counts", "k"), LARGE.values(), ids=LARGE)


def some(n, many=8):
    steps = np.unique(np.geomspace(1, n, many).astype(int)) - 1
    return sorted({*steps.tolist(), *(n - 1 - steps).tolist()})


@large
@pytest.mark.parametrize("dense", [0, 4])
def test_logarithms_and_shares_are_within_their_stated_error(monkeypatch, counts, k, dense):
    monkeypatch.setattr(module, "_DENSE", dense)
    every = subsets(counts, k)
    assert every.starts.tolist() == sorted(set(every.starts.tolist()))
    with ctx.workprec(4000):
        for i in some(len(every.starts)):
            start = int(every.starts[i])
            number, new = every.ball_of_at_most(start), every.ball_of_exactly(start)
            assert abs(number.log() - float(every.logs[i])) <= every.error * every.log_all
            share = new / number
            assert abs(share - float(every.fresh[i])) <= every.error * (every.log_all + 1) * share
            assert i == 0 or every.fresh[i] > 0
            log, error = every.log_at_most(start)
            assert abs(number.log() - log) <= error
        last = every.ball_of_at_most(every.largest)
        assert (last - math.comb(len(counts), k)).contains(0)
        assert every.log_all >= last.log()


@large
def test_choices_of_large_universes_are_within_their_stated_error(counts, k):
    every = subsets(counts, k)
    for i in some(len(every.starts), 4)[1:]:
        reach, less = (
            every._reaching(int(every.starts[i])),
            every._reaching(int(every.starts[i]) - 1),
        )
        for choice in (
            _FirstMissing(every, reach, np.zeros(k, np.int64), true=True),
            _FirstMissing(every, reach, less),
        ):
            right_up_to_a_factor(choice)


@pytest.mark.parametrize(
    ("last", "free", "size"),
    [(1, 0, 1), (5, 0, 3), (1, 9, 4), (40, 3, 20), (10**6, 10**5, 200), (2, 10**9, 300)],
)
def test_how_many_are_among_the_last(last, free, size):
    choice = _AmongLast(last, free, size)
    right_up_to_a_factor(choice)
    with ctx.workprec(20000):
        total = sum((choice.ball(i) for i in range(size)), arb(0))
        every = arb.bin_uiui(last + free, size) - arb.bin_uiui(free, size)
        assert abs(total - every) <= every * arb(2) ** -10000


def right_up_to_a_factor(choice):
    """All may be off by one factor, within the stated errors of each."""
    values, errors = choice.approximate()
    with ctx.workprec(9000):
        balls = [choice.ball(i) for i in range(len(choice))]
        assert all(
            (value == 0) == (ball == 0) or value < 1e-200
            for value, ball in zip(values, balls, strict=True)
        )
        largest = int(values.argmax())
        factor = balls[largest] / float(values[largest])
        assert errors[largest] < 2.0**-30 * values[largest]
        for value, error, ball in zip(values.tolist(), errors.tolist(), balls, strict=True):
            off = abs(ball / factor - value)
            assert off <= 2 * (error + value * errors[largest] / values[largest]) + 1e-290


COUNTS = st.lists(
    st.integers(0, 30) | st.sampled_from([HUGE, HUGE - 7, 2**40, 10**6]) | st.integers(0, 2000),
    min_size=2,
    max_size=40,
)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(counts=COUNTS, share=st.floats(0, 1), epsilon=between(1e-6, 50), floor=st.integers(1, 30))
@example(counts=[HUGE, 0], share=0.0, epsilon=1e-6, floor=1)
@example(counts=[HUGE, HUGE, 0, 0], share=0.5, epsilon=50, floor=1)
@example(counts=[2**60, 0, 0], share=0.0, epsilon=50, floor=1)
@example(counts=[5, 5, 5], share=1.0, epsilon=1.0, floor=1)
def test_weights_are_within_their_stated_error(counts, share, epsilon, floor):
    lists = subsets(counts, 1 + int(share * (len(counts) - 2)))
    cut = SlackWeights.of(lists, epsilon / 2)
    far = Competition(lists, epsilon / 2, floor).weights
    every = SlackWeights(lists, epsilon / 2), SlackClasses(lists, epsilon / 2)
    for weights in (cut, *every):
        within_stated_error(weights, some(len(weights)))
    if far:
        near = round(far.log_sum()[0] + far.shift)
        for level in (near, near + 1, 40):
            within_stated_error(Crowded(far, 0.1, level))


@pytest.mark.parametrize("decay", [5e-7, 0.05, 5.0, 25.0])
@large
def test_weights_of_large_universes_are_within_their_stated_error(counts, k, decay):
    lists = subsets(counts, k)
    for weights in SlackWeights.of(lists, decay), SlackClasses.of(lists, decay):
        values, errors = weights.approximate()
        within_stated_error(weights, some(max(1, len(weights) - 1), 4), bits=900)
        assert errors.sum() < 2.0**-28 * values.sum()
