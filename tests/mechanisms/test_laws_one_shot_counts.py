"""One-shot Laplace noise that tells counts: the privacy of the counts."""

import itertools

import numpy as np
import pytest

from helpers.losses import largest_log_ratio
from helpers.one_shot import BOTH, EPSILON, LOSS, QuietLaplace, build, cells_law, changes
from helpers.wrong_mechanisms import Retold
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws, Order
from shortlist.draws.noise import Laplace
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import OneShotLaplace

EDGES = (-0.5, 0.5, 1.5, 3.5)


def loss_with_counts(mechanism, d, bound):
    """The largest loss of items with the cells of their noisy counts, counts from 0 to 2."""
    told = {}

    def law_of(counts):
        if counts not in told:
            told[counts] = cells_law(mechanism, counts, EDGES, mechanism.max_items_per_user)
        return told[counts]

    worst = 0.0
    for counts in itertools.product(range(3), repeat=d):
        for way in changes(d, mechanism.neighbours, bound):
            p, q = law_of(counts), law_of(tuple(np.add(counts, way).tolist()))
            worst = max(worst, largest_log_ratio(p, q), largest_log_ratio(q, p))
    return worst


@pytest.mark.parametrize("neighbours", BOTH)
@pytest.mark.parametrize(("d", "k", "bound"), [(1, 1, 1), (2, 1, 1), (2, 2, 2), (3, 3, 1)])
def test_privacy_of_free_counts(d, k, bound, neighbours):
    built = build(OneShotLaplace, k, neighbours, max_items_per_user=bound)
    assert loss_with_counts(built, d, bound) <= EPSILON + LOSS


@pytest.mark.parametrize("neighbours", BOTH)
def test_counts_are_told_just_where_the_noise_hides_all_of_a_user(neighbours):
    for k, bound in itertools.product([1, 2, 3, 6], [None, 1, 2, 3, 4, 12]):
        built = build(OneShotLaplace, k, neighbours, max_items_per_user=bound)
        selection = built.select(PublicCounts(np.arange(8), bound), ExactDraws(SeededBits(5)))
        assert (selection.scores is not None) == (bound is not None and bound <= k)
        assert (selection.noise_sd is not None) == (selection.scores is not None)


def test_counts_from_the_noise_that_ranks_are_caught_where_a_user_is_in_more_of_them():
    assert build(Retold, 1).select(PublicCounts(np.array([5, 3])), ExactDraws()).scores is not None
    assert loss_with_counts(build(Retold, 1), 3, None) > 1.2 * EPSILON
    assert loss_with_counts(build(QuietLaplace, 2, max_items_per_user=1), 2, 1) > 1.2 * EPSILON


def test_fresh_counts_on_top_cost_more_than_published():
    # Algorithm 1 of Qiao et al. with its counts: at 2k/epsilon they cost epsilon / (2k) more.
    noise = [Laplace(2 / EPSILON)]
    edges = (1.5,)

    def run(counts):
        def algorithm(draws):
            picked = draws.order(Order(np.array(counts), noise, unit=1.0, k=1)).positions
            told = draws.order(Order(np.array(counts)[picked], noise, unit=1.0, digits=0)).values
            return tuple(picked.tolist()), tuple(told)

        return law(algorithm, edges)

    # The smaller count rises and the larger falls: that the smaller is named as the largest, and
    # that its count is told as high, both become likelier.
    p, q = run((0, 20)), run((1, 19))
    assert 1.4 * EPSILON < largest_log_ratio(q, p) < 1.5 * EPSILON + LOSS
