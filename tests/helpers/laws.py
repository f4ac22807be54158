"""The output law of a mechanism on small data, as the enumerator tells it."""

import dataclasses

import numpy as np

from shortlist.audit.exact.enumerator import law
from shortlist.draws import UNIT
from shortlist.draws.noise import Normal
from shortlist.evidence import PrivateCounts, PublicCounts, WeightedHistogram
from shortlist.evidence.combinations import PairsOfItems
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.user_sets import UserSets
from shortlist.mechanisms import (
    DiscoverThenRank,
    Joint,
    JointOrPeel,
    JointPermuteAndFlip,
    LimitedDomain,
    Peeling,
    PermuteAndFlip,
    UserPeeling,
    WeightedGaussian,
    WeightedGaussianPeeling,
)
from shortlist.mechanisms._two_gaussians import TwoGaussians

EPSILON, DELTA = 2.0, 0.2  # so large that even one user is sometimes named


def build(mechanism, *, k, bound=2, epsilon=EPSILON, delta=DELTA):
    given = {"k": k, "epsilon": epsilon, "delta": delta, "max_items_per_user": bound}
    return mechanism(**{name: given[name] for name in given if name in mechanism.fields()})


def shown(held, mechanism, draws):
    """What the mechanism may look at: bounded, unless everybody knows the items."""
    if issubclass(mechanism.evidence, UserSets):
        return held
    if mechanism.evidence is PairsOfItems:
        return PairsOfItems(held)
    if mechanism.evidence is PublicCounts:
        return held.count()
    bounded = held.bounded(mechanism.max_items_per_user, draws)
    return bounded.recount() if mechanism.evidence is PrivateCounts else bounded.weigh()


def output_law(mechanism, data, n_items=3, edges=()):
    """The law of what leaves, for a data set of frozensets of item numbers: rows to selection."""
    rows = [(user, item) for user, items in enumerate(data) for item in sorted(items)]
    users, items = (np.array([row[i] for row in rows], np.uint32) for i in (0, 1))

    def run(draws):
        held = Contributions.of_rows(users, items, n_users=len(data), n_items=n_items)
        evidence = shown(held, mechanism, draws)
        selection = mechanism.select(evidence, draws)
        scores = tuple(selection.scores) if edges else ()
        return (*selection.positions.tolist(), scores, selection.noise_sd)

    return law(run, edges)


def histogram(weights, counts):
    return WeightedHistogram(
        np.array([round(w / UNIT) for w in weights]), np.array(counts), max_items_per_user=2
    )


def positions_law(mechanism, evidence):
    return law(lambda draws: tuple(mechanism.select(evidence, draws).positions.tolist()))


def agree(law, oracle, tolerance):
    assert abs(sum(law.values()) - 1) < tolerance
    for outcome in law.keys() | oracle.keys():
        assert abs(law.get(outcome, 0) - oracle.get(outcome, 0)) < tolerance, outcome


class FreshNoise(TwoGaussians):
    def first_noise(self, weights, named, weight=1.0):
        kept = super().first_noise(weights, named, weight)
        return Normal(self.first_sigma) if weight == 1.0 else kept


def with_wrong(kind):
    """Gaussians of a wrong kind in the place of those of a mechanism."""

    def gaussians(self):
        honest = DiscoverThenRank(**{name: getattr(self, name) for name in self.fields()}).gaussians
        return kind(
            **{field.name: getattr(honest, field.name) for field in dataclasses.fields(honest)}
        )

    return property(gaussians)


class FreshScores(DiscoverThenRank):
    """Scores of peeled items from noise drawn anew: one more Gaussian, which nobody pays for."""

    gaussians = with_wrong(FreshNoise)


ALL = [WeightedGaussian, WeightedGaussianPeeling, DiscoverThenRank, Peeling, UserPeeling]
OF_COUNTS = [Joint, JointOrPeel, JointPermuteAndFlip, LimitedDomain, PermuteAndFlip]  # and Peeling


def honest(mechanism):
    return WeightedGaussian(**{name: getattr(mechanism, name) for name in mechanism.fields()})
