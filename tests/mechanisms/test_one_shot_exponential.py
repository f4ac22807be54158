"""One-shot exponential noise: its law, its privacy for both kinds of neighbours, its error."""

import itertools

import numpy as np
import pytest

from helpers.one_shot import BOTH, EPSILON, LOSS, build, changes
from helpers.oracles_of_counts import distance, permute_and_flip
from helpers.oracles_one_shot import exponential_law
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import Adjacency, OneShotExponential, PermuteAndFlip
from shortlist.privacy import Pure

SOME = [(3, 0, 1), (4, 0, 2, 0), (2, 2), (4,), (1, 0, 0, 3)]


def law_of(mechanism, counts):
    evidence = PublicCounts(np.array(counts))
    return law(lambda draws: tuple(mechanism.select(evidence, draws).positions.tolist()))


@pytest.mark.parametrize("neighbours", BOTH)
@pytest.mark.parametrize("counts", SOME)
def test_the_law_is_that_of_the_definition(counts, neighbours):
    times = 1 if neighbours is Adjacency.ADD_REMOVE else 2
    for k in range(1, min(3, len(counts)) + 1):
        built = build(OneShotExponential, k, neighbours)
        assert built.scale == pytest.approx(times * k / EPSILON)
        oracle = exponential_law(counts, times * k / EPSILON, k)
        assert distance(law_of(built, counts), oracle) < 1e-12


@pytest.mark.parametrize("counts", SOME)
def test_for_one_item_it_is_permute_and_flip(counts):
    found = law_of(OneShotExponential(k=1, epsilon=0.7), counts)
    expected = {(i,): p for i, p in enumerate(permute_and_flip(0.7, counts))}
    assert distance(found, expected) < 1e-12


def largest_loss(mechanism, d):
    """Over all neighbours with d items and counts from 0 to 3."""
    laws = {c: law_of(mechanism, c) for c in itertools.product(range(4), repeat=d)}
    losses = [
        abs(np.log(laws[counts][o] / laws[other][o]))
        for counts in laws
        for way in changes(d, mechanism.neighbours, None)
        if (other := tuple(np.add(counts, way).tolist())) in laws
        for o in laws[counts]
    ]
    return max(losses)


class Quiet(OneShotExponential):
    """Noise that is 30 % too small."""

    @property
    def scale(self):
        return 0.7 * OneShotExponential.scale.func(self)


class OneSided(OneShotExponential):
    """The noise for users added or removed, where a user's items may change."""

    @property
    def _spread(self):
        return 1.0


class ForOne(OneShotExponential):
    """The noise of one item for all."""

    @property
    def scale(self):
        return 1 / self.epsilon


@pytest.mark.parametrize("neighbours", BOTH)
@pytest.mark.parametrize(("d", "k"), [(2, 1), (3, 2), (3, 3)])
def test_privacy_of_all_small_neighbours(d, k, neighbours):
    loss = largest_loss(build(OneShotExponential, k, neighbours), d)
    assert loss <= EPSILON + LOSS
    assert loss > 0.8 * EPSILON or k == d  # nothing is given away, unless all are named


def test_too_little_noise_is_caught():
    for neighbours in BOTH:
        assert largest_loss(build(Quiet, 1, neighbours), 2) > 1.1 * EPSILON
    assert largest_loss(build(OneSided, 1, Adjacency.GENERAL), 2) > 1.1 * EPSILON
    assert largest_loss(build(ForOne, 2), 3) > 1.1 * EPSILON


def test_it_errs_less_than_permute_and_flip_for_many():
    counts, draws = np.sort(np.arange(400) ** 2 // 40)[::-1].copy(), ExactDraws(SeededBits(3))

    def error(kind):
        chosen = [kind(k=30, epsilon=1.0).select(PublicCounts(counts), draws) for _ in range(60)]
        return np.mean([np.abs(counts[:30] - counts[c.positions]).sum() for c in chosen])

    assert error(OneShotExponential) < 0.93 * error(PermuteAndFlip)


def test_it_is_pure_and_said_in_plain_words():
    mechanism = OneShotExponential(k=20, epsilon=0.5)
    assert mechanism.cost == Pure(0.5)
    assert mechanism.explain()[0] == "Exponential noise of mean 40 is added to every count once."
