"""Output laws of one-shot Laplace noise and of noise in a cube, and their privacy."""

import itertools

import numpy as np
import pytest

from helpers.one_shot import (
    BOTH,
    EPSILON,
    LOSS,
    QuietLaplace,
    build,
    cells_law,
    changes,
    without_cells,
)
from helpers.oracles_one_shot import cube_law, laplace_law
from shortlist.audit.exact.enumerator import law
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import Adjacency, Extreme, Gamma, OneShotLaplace

EXACT = 1e-12  # what the two ways of integrating agree to

UNIVERSES = [
    counts for d in range(1, 6) for counts in itertools.combinations_with_replacement(range(5), d)
]


def sizes(d):
    return sorted({min(k, d) for k in (1, 2, 3, d)})


def positions_law(mechanism, counts, bound=None):
    evidence = PublicCounts(np.array(counts), bound)
    return law(lambda draws: tuple(mechanism.select(evidence, draws).positions.tolist()))


def agree(law, oracle):
    assert abs(sum(law.values()) - 1) < EXACT
    assert max(abs(law.get(o, 0) - oracle.get(o, 0)) for o in law | oracle) < EXACT


# --- the law of the code is the one of the definition


def test_one_shot_laplace_is_its_definition():
    for counts in UNIVERSES:
        for k in sizes(len(counts)):
            oracle = laplace_law(counts, k / EPSILON, k)
            agree(positions_law(build(OneShotLaplace, k), counts), without_cells(oracle))


@pytest.mark.exhaustive
def test_gamma_is_its_definition():
    for counts in UNIVERSES:
        orders = cube_law(counts, 0.5 / EPSILON, len(counts))
        for k in sizes(len(counts)):
            agree(positions_law(build(Gamma, k), counts), best(orders, k))


def best(orders, k):
    """The law of the first k of each order."""
    law = {}
    for order, p in orders.items():
        law[order[:k]] = law.get(order[:k], 0) + p
    return law


SOME = [(3, 0, 1), (4, 0, 2, 0), (1, 4, 4, 2, 3), (2, 2), (4,), (1, 0, 0, 0, 3)]


@pytest.mark.parametrize("counts", SOME)
@pytest.mark.parametrize("neighbours", BOTH)
def test_the_laws_follow_items_neighbours_and_bounds(counts, neighbours):
    times = 1 if neighbours is Adjacency.ADD_REMOVE else 2
    for k in sizes(len(counts)):
        built = build(Gamma, k, neighbours)
        agree(positions_law(built, counts), best(cube_law(counts, times / 2 / EPSILON, 5), k))
        for bound in (None, 1, 2, 5):
            scale = times * min(k, bound or k) / EPSILON
            built = build(OneShotLaplace, k, neighbours, max_items_per_user=bound)
            oracle = without_cells(laplace_law(counts, scale, k))
            agree(positions_law(built, counts, bound), oracle)
            built = build(
                OneShotLaplace, k, neighbours, max_items_per_user=bound, extreme=Extreme.SMALLEST
            )
            oracle = without_cells(laplace_law([-c for c in counts], scale, k))
            agree(positions_law(built, counts, bound), oracle)


@pytest.mark.parametrize("counts", [(2,), (0, 1), (3, 0, 1), (1, 1, 1)])
@pytest.mark.parametrize("extreme", list(Extreme))
def test_free_counts_are_those_of_the_noise_that_ranks(counts, extreme):
    edges, sign = (-0.5, 0.5, 2.5), 1 if extreme is Extreme.LARGEST else -1
    k = len(counts)
    built = build(OneShotLaplace, k, max_items_per_user=1, extreme=extreme)
    oracle = laplace_law([sign * c for c in counts], 1 / EPSILON, k, edges)
    seen = cells_law(built, counts, edges, 1)
    signed = {(o, tuple(sign * x for x in cells)): p for (o, cells), p in seen.items()}
    agree(signed, oracle)


def test_the_oracles_tell_a_scale_that_is_30_percent_off():
    for factor in (0.7, 1.3):
        right, wrong = laplace_law((0, 1, 3), 1.0, 2), laplace_law((0, 1, 3), factor, 2)
        assert max(abs(right[o] - wrong[o]) for o in right) > 0.01
        right, wrong = cube_law((0, 1, 3), 0.5, 2), cube_law((0, 1, 3), 0.5 * factor, 2)
        assert max(abs(right[o] - wrong[o]) for o in right) > 0.01


# --- privacy of all neighbours


class Laws:
    """The law of a mechanism as an array over all outcomes, from that of counts in rising order.

    Items are told apart by their counts alone, and counts that all grow alike change no ranking;
    both is what the laws above show.
    """

    def __init__(self, mechanism, d):
        self._mechanism, k = mechanism, min(mechanism.k, d)
        self._outcomes = np.array(list(itertools.permutations(range(d), k)))
        self._digits = d ** np.arange(k)
        self._place = np.zeros(d**k, int)
        self._place[self._outcomes @ self._digits] = np.arange(len(self._outcomes))
        self._known = {}

    def __call__(self, counts):
        counts = np.array(counts)
        rank = np.empty(len(counts), int)
        rank[np.argsort(counts, kind="stable")] = np.arange(len(counts))
        key = tuple(np.sort(counts - counts.min()).tolist())
        if key not in self._known:
            law = positions_law(self._mechanism, key, self._mechanism_bound())
            self._known[key] = np.array([law[tuple(o)] for o in self._outcomes.tolist()])
        return self._known[key][self._place[rank[self._outcomes] @ self._digits]]

    def _mechanism_bound(self):
        return getattr(self._mechanism, "max_items_per_user", None)


def largest_loss(mechanism, d, bound=None):
    """Over all neighbours with d items and counts from 0 to 4; of five items, to 3."""
    laws, worst = Laws(mechanism, d), 0.0
    for counts in itertools.combinations_with_replacement(range(5 if d < 5 else 4), d):
        logs = np.log(laws(counts))
        for way in changes(d, mechanism.neighbours, bound):
            worst = max(worst, np.abs(np.log(laws(np.add(counts, way))) - logs).max())
    return worst


@pytest.mark.exhaustive
@pytest.mark.parametrize("neighbours", BOTH)
@pytest.mark.parametrize("mechanism", [OneShotLaplace, Gamma])
def test_privacy_of_all_small_neighbours(mechanism, neighbours):
    nearest = 0.0
    for d in range(1, 6):
        # The cube does not depend on k, so what is told of fewer items is told by all in order.
        for k in sizes(d) if mechanism is OneShotLaplace else [d]:
            loss = largest_loss(build(mechanism, k, neighbours), d)
            assert loss <= EPSILON + LOSS
            nearest = max(nearest, loss)
    assert nearest > 0.8 * EPSILON  # nothing is given away


@pytest.mark.parametrize("neighbours", BOTH)
def test_privacy_where_a_user_is_in_few_counts(neighbours):
    for d, k, bound in [(2, 2, 1), (3, 2, 1), (3, 3, 2), (4, 3, 2)]:
        built = build(OneShotLaplace, k, neighbours, max_items_per_user=bound)
        assert largest_loss(built, d, bound) <= EPSILON + LOSS


class QuietGamma(Gamma):
    """A cube that is 30 % too small."""

    @property
    def scale(self):
        return 0.7 * super().scale


class OneSidedLaplace(OneShotLaplace):
    """The noise for users added or removed, where a user's items may change."""

    @property
    def _spread(self):
        return 1.0


class HalfGamma(Gamma):
    """The same of the cube."""

    @property
    def scale(self):
        return super().scale / 2


@pytest.mark.parametrize(
    ("mechanism", "neighbours"),
    [
        *itertools.product([QuietLaplace, QuietGamma], BOTH),
        (OneSidedLaplace, Adjacency.GENERAL),
        (HalfGamma, Adjacency.GENERAL),
    ],
)
def test_too_little_noise_is_caught(mechanism, neighbours):
    assert max(largest_loss(build(mechanism, 1, neighbours), d) for d in (2, 3)) > 1.1 * EPSILON


def test_more_items_than_the_noise_is_for_are_caught():
    # The set of the best 3 with noise for 1.
    class Greedy(OneShotLaplace):
        def _calibrated(self, *_):
            return 1 / EPSILON

    assert largest_loss(build(Greedy, 3), 4) > 1.5 * EPSILON
