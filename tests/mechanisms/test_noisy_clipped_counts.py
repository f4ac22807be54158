"""Noisy clipped counts of a domain: what they cost, what they are, and mistakes that are caught."""

import dataclasses
import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from helpers.losses import hockey_stick
from helpers.oracles import ORACLES
from helpers.oracles_of_clipped_counts import part, with_clipped_counts
from helpers.refusals import refusal
from helpers.small import Small
from shortlist.algorithms.clipped_counts import ClippedCounts
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws, RoundingGrid
from shortlist.evidence import PublicCounts, WeightedHistogram
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import (
    Accounting,
    AdaptiveGaussian,
    Peeling,
    PolicyGaussian,
    PolicyGreedy,
    Selection,
    WeightedGaussian,
)
from shortlist.mechanisms.wrappers import NoisyClippedCounts
from shortlist.mechanisms.wrappers.noisy_clipped_counts import ClippedCountsDesign
from shortlist.privacy import Approximate
from shortlist.privacy.accountant import Composition
from shortlist.privacy.calibration import subtract_down

ORACLE = ORACLES[NoisyClippedCounts]
SELECTIONS = {
    "rounds": partial(AdaptiveGaussian, max_items_per_user=100),
    "one round": partial(WeightedGaussian, max_items_per_user=100),
    "policy": partial(PolicyGaussian, max_items_per_user=100),
    "units": PolicyGreedy,
    "zcdp": partial(WeightedGaussian, max_items_per_user=10, accounting=Accounting.ZCDP),
    "published": partial(PolicyGreedy, accounting=Accounting.PUBLISHED),
}


def build(kind="one round", *, epsilon=1.0, delta=1e-6, count_share=0.3, of=NoisyClippedCounts):
    def selection(epsilon, delta):
        return SELECTIONS[kind](epsilon=epsilon, delta=delta)

    return of.of(selection, epsilon=epsilon, delta=delta, count_share=count_share)


def users(*sets):
    """Users who hold these sets of items."""
    rows = np.array([(u, i) for u, held in enumerate(sets) for i in sorted(held)], np.uint32)
    n_items = int(rows[:, 1].max()) + 1
    return Contributions.of_rows(*rows.T.copy(), n_users=len(sets), n_items=n_items)


# --- what it costs


@pytest.mark.parametrize("kind", SELECTIONS)
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-9), (3.0, 0.01)])
def test_nearly_all_of_the_budget_is_used_and_no_more(kind, epsilon, delta):
    mechanism = build(kind, epsilon=epsilon, delta=delta)
    assert 0.99 * delta <= mechanism.cost.delta(epsilon) <= delta
    rest = [subtract_down(x, 0.3 * x) for x in (epsilon, delta)]
    assert [mechanism.selection.epsilon, mechanism.selection.delta] == rest
    by_guarantees = mechanism._by_guarantees()
    by_epsilon = by_guarantees.cost.ways[1]
    assert mechanism._best.counts.mu >= by_guarantees.counts.mu
    left = Fraction(epsilon) - Fraction(mechanism.selection.epsilon)
    assert Fraction(by_epsilon.pure) - Fraction(rest[0]) <= left
    assert isinstance(by_epsilon, Approximate)


@pytest.mark.parametrize("kind", ["rounds", "one round", "policy"])
def test_stages_leave_twice_as_much_as_guarantees(kind):
    mechanism = build(kind)
    assert mechanism._best.counts.mu > 2 * mechanism._by_guarantees().counts.mu


def test_the_choice_has_a_small_share():
    for kind in SELECTIONS:
        counts = build(kind)._best.counts
        choice = counts.choice**2 / 8
        assert choice / (choice + counts.mu**2 / 2) == pytest.approx(0.1, rel=0.1)


def test_noise_grows_with_the_root_of_the_bound():
    mechanism = build()
    mu = Fraction(mechanism._best.counts.mu)
    for bound, sd in zip(mechanism.design.bounds, mechanism._sds, strict=True):
        assert bound <= (Fraction(sd) * mu) ** 2 <= bound * (1 + Fraction(1, 2**40))


# --- what it is


def test_whole_sets_are_counted_whatever_the_selection_bounds():
    many = users(*[range(8)] * 3000)
    for kind in ("rounds", "units", "zcdp"):
        mechanism = build(kind, epsilon=10.0)
        assert mechanism.wants.bound is None
        told = mechanism.select(many, ExactDraws(SeededBits(3)))
        assert len(told.positions) == len(told.scores) > 0
        assert told.noise_sd in mechanism._sds
        bound = mechanism.design.bounds[mechanism._sds.index(told.noise_sd)]
        expected = 3000 * part(bound, told.positions)
        assert np.abs(told.scores - expected).max() < 6 * told.noise_sd


def test_a_selection_without_items_has_no_counts():
    told = build().select(users({0}, {1}), ExactDraws(SeededBits(1)))
    assert (len(told.positions), len(told.scores)) == (0, 0)
    assert told.noise_sd == build().least_count_sd


def test_noise_is_told_as_it_is():
    mechanism = build("units", epsilon=5.0)
    held = users(*[{0, 1}] * 400)
    draws = ExactDraws(SeededBits(2))
    told = [mechanism.select(held, draws) for _ in range(400)]
    errors = [
        (score - 400 * part((one.noise_sd / mechanism.least_count_sd) ** 2, set(one.positions)))
        / one.noise_sd
        for one in told
        for score in one.scores
    ]
    band = 4.5 / math.sqrt(2 * len(errors))
    assert len(errors) > 500
    assert abs(np.std(errors) - 1) < band < 0.3


def test_it_says_what_it_does():
    mechanism = build()
    told = mechanism.explain()
    assert told[: len(told) - 3] == mechanism.selection.explain()
    assert f"{mechanism.least_count_sd:.3g} sqrt(D)" in told[-1]
    assert "adds sqrt(D / n) to each count, instead of 1" in told[-3]
    parameters = mechanism.parameters()
    assert parameters["selection"]["name"] == "WeightedGaussian"
    assert set(parameters) == {"count_share", "choice_epsilon", "least_count_sd", "selection"}


def test_what_gives_no_domain_is_refused():
    class Public(WeightedGaussian):
        evidence = PublicCounts

    class Weighted(WeightedGaussian):
        evidence = WeightedHistogram
        adjacency = "change one user"

    budget = {"epsilon": 1.0, "delta": 1e-6}
    given = {"epsilon": 0.5, "delta": 5e-7, "max_items_per_user": 3}
    wrong = [Peeling(k=3, epsilon=0.5), Public(**given), Weighted(**given)]
    for selection in wrong:
        said = f"count_share=0.3: {type(selection).__name__} names no domain of users' rows"
        refusal(
            lambda s=selection: NoisyClippedCounts(selection=s, count_share=0.3, **budget), said
        )


def test_noise_beyond_the_grid_is_refused():
    refusal(
        lambda: build(epsilon=1e-6, delta=1e-9, count_share=1e-3), "count_share=0.001: so small"
    )


# --- mistakes


class NoiseForOne(NoisyClippedCounts):
    """Noise as for D = 1, whichever was picked."""

    @property
    def _sds(self):
        return tuple(self.least_sd(bound) for bound in self.design.bounds)

    def least_sd(self, bound):
        return self._best.counts.sd(1) * (1 + 2.0**-40 * bound)


class FreeChoice(NoisyClippedCounts):
    """The choice is made nearly without noise, at a cost that is not paid."""

    choice_epsilon = property(lambda _: 20.0)


class ByTheBounded(NoisyClippedCounts):
    """Users' parts are clipped by the one item that bounding kept, and added to all held."""

    def with_counts(self, selection, held, draws):
        clipped = OfOne(held, self.design.grid, 1.0)
        chosen = clipped.pick(self.design.bounds, self._sds, self.choice_epsilon, draws)
        counts = clipped.noisy(self.design.bounds[chosen], self._sds[chosen], draws)
        return selection._replace(scores=counts, noise_sd=self._sds[chosen])


class OfOne(ClippedCounts):
    """Parts as of one item."""

    def _weights(self, bound):
        return np.full_like(super()._weights(bound), 2**20)


def excess_of(kind):
    """Of the counts of two items that were released, over what the choice and the noise cost."""
    design = ClippedCountsDesign(bounds=(1, 2), grid=lambda _: RoundingGrid(2**20, 0, 9))
    mechanism = build("units", epsilon=4.0, delta=0.2, count_share=0.9, of=kind)
    mechanism = dataclasses.replace(mechanism, design=design)
    stages = Composition(mechanism._best.counts.stages)
    released = Selection(np.arange(2), ordered=False)

    def output(held):
        def run(draws):
            told = mechanism.with_counts(released, held, draws)
            return *told.scores, told.noise_sd

        return law(run)

    laws = [output(users({0}, {1}, *[{0, 1}] * n)) for n in range(10)]
    pairs = [pair for two in itertools.pairwise(laws) for pair in (two, two[::-1])]
    epsilons = (0.0, 0.5, 1.0, 2.0, 3.0)
    return max(hockey_stick(*pair, e) - stages.delta(e) for pair in pairs for e in epsilons)


def test_counts_are_within_their_two_stages():
    assert excess_of(NoisyClippedCounts) < 1e-9


@pytest.mark.parametrize("kind", [NoiseForOne, FreeChoice, ByTheBounded])
def test_a_mistake_is_caught(kind):
    assert excess_of(kind) > 0.01


class Unpaid(NoisyClippedCounts):
    """Counts with a third of the noise that they are charged for."""

    @property
    def _sds(self):
        return tuple(self._best.counts.sd(bound) / 3 for bound in self.design.bounds)


def test_too_little_noise_is_caught_with_the_selection():
    right, wrong = map(with_clipped_counts, (NoisyClippedCounts, Unpaid))
    assert ORACLE.breaks(wrong, right.cost, by=0.01)


# --- around rounds, on a coarse grid


def test_privacy_around_rounds():
    given = {"max_items_per_user": 1, "rounds": 2, "design": AdaptiveGaussian.design.coarse}
    mechanism = NoisyClippedCounts.of(
        lambda epsilon, delta: AdaptiveGaussian(epsilon=epsilon, delta=delta, **given),
        epsilon=2.0,
        delta=0.2,
        count_share=0.5,
        design=NoisyClippedCounts.design.coarse,
    )
    one, both = frozenset({0}), frozenset({0, 1})
    pairs = [((), (both,)), ((one,), (one, both)), ((both,), (both, both))]
    few = dataclasses.replace(ORACLE, small=Small(2, pairs))
    assert few.excess(mechanism, mechanism.cost) < 1e-9
