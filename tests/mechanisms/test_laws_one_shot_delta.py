"""One-shot Laplace noise with a delta: the privacy of its sets."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import gammaln

from helpers.losses import hockey_stick
from helpers.one_shot import BOTH
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import Adjacency, OneShotLaplace
from shortlist.privacy.calibration import one_shot_laplace_scale


def set_excess(m, k, epsilon, scale, raised, lowered):
    """The delta at epsilon between m equal counts, and these with some raised and some lowered.

    The answer is a set; what tells is how many of the raised and of the lowered ones are in it.
    A set's chance is the integral over the largest value outside of: all inside are larger.
    """
    nodes, weights = np.polynomial.legendre.leggauss(12)
    ends = np.unique([*np.arange(-200, 201) * scale / 10, -1, 1])
    half = np.diff(ends)[:, None] / 2
    t, steps = (ends[:-1, None] + half * (nodes + 1)).ravel(), (half * weights).ravel()
    groups = [m - raised - lowered, raised, lowered]

    def law(shifts):
        z = [(t - shift) / scale for shift in shifts]
        low = [np.exp(-np.abs(x)) / 2 for x in z]
        below = [np.log(np.where(x < 0, s, 1 - s)) for x, s in zip(z, low, strict=True)]
        above = [np.log(np.where(x < 0, 1 - s, s)) for x, s in zip(z, low, strict=True)]
        rate = [np.log(s / scale) for s in low]
        chances = {}
        for inside in itertools.product(*(range(g + 1) for g in groups)):
            if sum(inside) != k:
                continue
            ways = sum(
                gammaln(g + 1) - gammaln(i + 1) - gammaln(g - i + 1)
                for g, i in zip(groups, inside, strict=True)
            )
            out = [g - i for g, i in zip(groups, inside, strict=True)]
            logs = ways + sum(np.multiply(inside, np.array(above).T).T)
            logs += sum(np.multiply(out, np.array(below).T).T)
            chances[inside] = sum(
                float(steps @ np.exp(logs + r - b)) * o
                for r, b, o in zip(rate, below, out, strict=True)
            )
        return chances

    p, q = law([0, 0, 0]), law([0, 1, -1])
    assert abs(sum(p.values()) - 1) < 1e-9
    assert abs(sum(q.values()) - 1) < 1e-9
    return max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))


def built_with_delta(neighbours=Adjacency.ADD_REMOVE, **given):
    return OneShotLaplace(
        **{"k": 140, "epsilon": 0.2, "delta": 0.05, "neighbours": neighbours} | given
    )


@pytest.mark.parametrize("neighbours", BOTH)
def test_privacy_with_a_delta_between_equal_counts(neighbours):
    built, m = built_with_delta(neighbours), 150
    scale = built._calibrated(0.05, m)
    assert scale < built._calibrated()
    lowered = [0] if neighbours is Adjacency.ADD_REMOVE else [0, 4, 60]
    for raised, low in itertools.product([1, 5, 40, 75], lowered):
        assert set_excess(m, 140, 0.2, scale, raised, low) <= 0.05
    # The theorem's constants are large; a two-hundredth of its noise is too little.
    assert set_excess(m, 140, 0.2, scale / 200, 75, lowered[-1]) > 0.05


def test_with_a_delta_the_answer_is_a_set_where_the_noise_is_less():
    counts = np.arange(150)
    few, many = built_with_delta(k=10), built_with_delta()
    one = few.select(PublicCounts(counts), ExactDraws(SeededBits(1)))
    assert one.ordered
    other = many.select(PublicCounts(counts), ExactDraws(SeededBits(1)))
    assert not other.ordered
    assert other.scores is None
    assert other.positions.tolist() == sorted(other.positions.tolist())
    bound = built_with_delta(max_items_per_user=1)  # pure noise is less, and tells the counts
    told = bound.select(PublicCounts(counts, 1), ExactDraws(SeededBits(1)))
    assert told.ordered
    assert told.scores is not None


def test_which_answer_it_is_depends_on_no_count():
    built = built_with_delta(k=150)
    for m in (1, 2, 150, 500, 700):
        kinds = {
            built.select(PublicCounts(counts), ExactDraws(SeededBits(2))).ordered
            for counts in (np.zeros(m, int), np.arange(m) * 1000, np.full(m, 2**62 - 1))
        }
        assert len(kinds) == 1
        assert kinds == {16 * math.log(max(m, 150) / 0.05) >= 150}


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.21, 1e-6), (1.0, 1e-6), (0.2, 0.051), (0.1, 0.5), (50.0, 1e-12)]
)
def test_a_delta_beyond_the_theorem_is_refused_with_the_way_out(epsilon, delta):
    ask = lambda: OneShotLaplace(k=3, epsilon=epsilon, delta=delta)
    refusal(ask, f"epsilon={epsilon!r}", f"delta={delta!r}", "0.2", "0.05", "delta=0", "Peeling")
    refusal(lambda: one_shot_laplace_scale(3, epsilon=epsilon, delta=delta, n_items=9), "Peeling")
    assert OneShotLaplace(k=3, epsilon=epsilon).cost.delta(epsilon) == 0
