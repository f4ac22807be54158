"""Rounds that stop: what an item seems to be worth, and when k of those found are safe."""

import itertools
import math

import numpy as np
import pytest

from helpers.hitting import contributions
from shortlist.algorithms.rounds import BOOSTS
from shortlist.algorithms.stopping import UntilSafe
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.mechanisms import AdaptiveTopK

MARGINS = (1.5, 1.0, 0.5)
MECHANISM = AdaptiveTopK(k=2, epsilon=1.0, delta=1e-6, max_items_per_user=4)
PARTS, LIMITS = MECHANISM._plan.parts, MECHANISM._limits
STEP = MECHANISM._rounds.step


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


def stopping(k=2):
    return UntilSafe(MECHANISM._rounds, k, MARGINS)


def safe(r, above=0.01):
    """What is just as high above the threshold of round r as it has to be."""
    noise = MECHANISM.sigma * math.sqrt(sum(PARTS) / sum(PARTS[: r + 1]))
    return LIMITS.thresholds[r] + MARGINS[r] * noise + above


ONE_EACH = contributions([{0}, {1}, {2}], 3)


def test_they_stop_as_soon_as_k_are_safe():
    found = stopping().found(ONE_EACH, Told(rounded(safe(0), 0.0, safe(0))))
    assert found.rounds == 1
    assert found.items.tolist() == [0, 2]
    assert found.estimates == pytest.approx([safe(0)] * 2, abs=STEP)


@pytest.mark.parametrize("second", [safe(0, -0.1), LIMITS.thresholds[0] + STEP, -5.0])
def test_they_go_on_while_the_kth_best_is_not(second):
    high, low = 10 * safe(0), -1e3
    draws = Told(
        rounded(high, second, low), rounded(low, low), rounded(low, low), rounded(low, low)
    )
    found = stopping().found(ONE_EACH, draws)
    assert found.rounds == (2 if second > 0 else len(PARTS))  # later thresholds are lower
    assert found.items.tolist() == ([0, 1] if second > 0 else [0])


def test_one_that_is_found_is_not_heard_again():
    low = -1e3
    draws = Told(rounded(10 * safe(0), low, low), *[rounded(low, low)] * 3)
    stopping().found(ONE_EACH, draws)
    assert draws.heard == [3, 2, 2, 2]


def test_a_later_round_may_stop_them():
    near = LIMITS.thresholds[0] - 1
    mean = safe(1, 5.0)
    more = (sum(PARTS[:2]) * mean - PARTS[0] * near) / PARTS[1]
    found = stopping().found(ONE_EACH, Told(rounded(near, near, -9.0), rounded(more, more, -9.0)))
    assert found.rounds == 2
    assert found.items.tolist() == [0, 1]


def test_an_estimate_is_the_least_squares_of_all_that_was_heard_of_it():
    rounds = MECHANISM._rounds
    near = LIMITS.thresholds[0] - 1
    first = rounded(near)[0]
    boost = rounds._boosts(0, np.array([PARTS[0] * first]))[0] / BOOSTS
    assert 0.3 < boost < 1
    second = rounded(safe(1, 30.0))[0]
    found = stopping(1).found(ONE_EACH, Told([first, -99, -99], [second, -99, -99]))
    expected = PARTS[0] * first + PARTS[1] * boost * second
    expected *= STEP / (PARTS[0] + PARTS[1] * boost**2)
    assert found.estimates == pytest.approx([expected], rel=1e-12)


def test_what_was_worth_little_counts_as_if_it_were_worth_a_bit():
    far = rounded(-3.0)[0]
    assert MECHANISM._rounds._boosts(0, np.array([PARTS[0] * far]))[0] < 0.3 * BOOSTS
    high = rounded(50 * safe(1))[0]
    found = stopping(1).found(ONE_EACH, Told([far, -99, -99], [high, -99, -99]))
    expected = PARTS[0] * far + PARTS[1] * 0.3 * high
    expected *= STEP / (PARTS[0] + PARTS[1] * 0.09)
    assert found.estimates == pytest.approx([expected], rel=1e-12)


def test_nothing_but_what_is_told_of_found_items_decides():
    """Whatever the third item hears while it is not found."""
    told = [
        stopping().found(ONE_EACH, Told(rounded(safe(0), safe(0), other)))
        for other in (-1e6, 0.0, LIMITS.thresholds[0] - 0.1)
    ]
    assert len({(tuple(t.items), tuple(t.estimates), t.rounds) for t in told}) == 1


def test_where_an_item_stands_says_nothing():
    first = rounded(LIMITS.thresholds[0] - 1, 10 * safe(0), 3.0)
    second = dict(zip(first, rounded(safe(1, 40.0), 0.0, 30.0), strict=True))
    seen = []
    for order in itertools.permutations(first):
        left = [value for value in order if value != first[1]]
        found = stopping().found(ONE_EACH, Told(order, [second[value] for value in left]))
        told = {order[i]: w for i, w in zip(found.items, found.estimates, strict=True)}
        seen.append((found.rounds, sorted(told.items())))
    assert seen == [seen[0]] * 6
    assert seen[0][0] == 2


def test_nobody_and_few():
    for data in ([], [set()], [{0}]):
        found = stopping().found(contributions(data, 1), ExactDraws(SeededBits(1)))
        assert found.items.tolist() == []
        assert found.rounds == len(PARTS)
