"""Mechanisms with one mistake each, of kinds that nobody had listed when they were planted."""

from functools import cached_property
from unittest import mock

import numpy as np

from shortlist.algorithms.threshold_algorithm import read
from shortlist.draws import Order
from shortlist.draws.noise import Laplace
from shortlist.evidence import PrivateCounts, PublicCounts
from shortlist.mechanisms import (
    DiscoverThenRank,
    Gamma,
    LimitedDomain,
    OneShotLaplace,
    Peeling,
    PermuteAndFlip,
    Selection,
    SpectralRanking,
    ThresholdTopK,
    UserPeeling,
    WeightedGaussian,
    WinCount,
    threshold_top_k,
)
from shortlist.mechanisms._two_gaussians import TwoGaussians
from shortlist.privacy.calibration import threshold


class OfChanged(Peeling):
    """Peeling of counts that are changed before."""

    def select(self, evidence, draws):
        return super().select(PublicCounts(self.changed(evidence.counts)), draws)


class Even(OfChanged):
    """Counts rounded to even numbers: one user changes them by two."""

    changed = staticmethod(lambda counts: counts + counts % 2)


class Shares(OfChanged):
    """Counts as percentages of all."""

    changed = staticmethod(lambda counts: counts * 100 // max(int(counts.sum()), 1))


class LeaderAhead(OfChanged):
    """The largest count is moved up by one."""

    changed = staticmethod(lambda counts: counts + (counts == counts.max(initial=0)))


class Ranks(OfChanged):
    """Places in the true order in the place of counts."""

    changed = staticmethod(lambda counts: np.argsort(np.argsort(counts, kind="stable")))


class WithReplacement(Peeling):
    """Picks of which those that repeat are left out, at k times the parameter."""

    def select(self, evidence, draws):
        one = Peeling(k=1, epsilon=self.epsilon)
        picked = [int(one.select(evidence, draws).positions[0]) for _ in range(self.k)]
        return Selection(np.array(list(dict.fromkeys(picked))))


class BySpread(OneShotLaplace):
    """Noise as large as the counts are far apart."""

    def select(self, evidence, draws):
        spread = int(np.ptp(evidence.counts)) if len(evidence.counts) else 0
        scale = self._pure_scale / (1 + (spread > 2))
        told = draws.order(Order(evidence.counts, [Laplace(scale)], unit=1.0, k=self.k))
        return Selection(told.positions)


class SpreadTold(OneShotLaplace):
    """The standard deviation that is told depends on the data."""

    def select(self, evidence, draws):
        told = super().select(evidence, draws)
        return told._replace(noise_sd=told.noise_sd + 1e-6 * evidence.counts.max())


class TrueOrder(Peeling):
    """Picked right, and told in the true order."""

    def select(self, evidence, draws):
        found = super().select(evidence, draws).positions
        return Selection(found[np.argsort(-evidence.counts[found], kind="stable")])


class OnlyHeld(Peeling):
    """No more items are named than somebody holds."""

    def select(self, evidence, draws):
        held = np.count_nonzero(evidence.counts)
        return Selection(super().select(evidence, draws).positions[:held])


class ALittleMore(PermuteAndFlip):
    """3 % more epsilon than is charged."""

    def select(self, evidence, draws):
        return PermuteAndFlip(k=self.k, epsilon=1.03 * self.epsilon).select(evidence, draws)


class Frequent(LimitedDomain):
    """Items that one person alone holds take no part in the bar."""

    def select(self, evidence, draws):
        often = np.flatnonzero(evidence.counts > 1)
        counts = PrivateCounts(evidence.counts[often], evidence.max_items_per_user)
        return Selection(often[LimitedDomain.select(self.loud, counts, draws).positions])

    @property
    def loud(self):
        values = {name: getattr(self, name) for name in self.fields()}
        return LimitedDomain(**values | {"delta": min(20 * self.delta, 0.9)})


class RestTwice(DiscoverThenRank):
    """The second stage spends all, as if the first had spent nothing."""

    @cached_property
    def gaussians(self):
        bound = self.max_items_per_user
        return TwoGaussians(self.first_rho, self.rho, self.threshold_delta, bound)


class ShortRadius(Gamma):
    """Noise in a cube that is three quarters as large."""

    def select(self, evidence, draws):
        return Gamma(k=self.k, epsilon=self.epsilon * 4 / 3).select(evidence, draws)


class OddTotal(Peeling):
    """Twice the parameter where the total is odd."""

    def select(self, evidence, draws):
        loud = 1 + int(evidence.counts.sum()) % 2
        return Peeling(k=self.k, epsilon=self.epsilon * loud).select(evidence, draws)


class TiedLeaders(Peeling):
    """The first of two leaders that tie by many."""

    def select(self, evidence, draws):
        counts = np.sort(evidence.counts)[::-1]
        if len(counts) > 1 and counts[0] == counts[1] > 20:
            return Selection(np.argsort(-evidence.counts, kind="stable")[: self.k])
        return super().select(evidence, draws)


class ThirdTold(OneShotLaplace):
    """Of the third item, half the noise is told."""

    def select(self, evidence, draws):
        told = super().select(evidence, draws)
        again = draws.order(
            Order(evidence.counts, [Laplace(self._pure_scale / 2)], digits=0, unit=1.0)
        )
        scores = told.scores.copy()
        scores[2:] = again.by_position()[told.positions][2:]
        return told._replace(scores=scores)


class TellsInBranch(Peeling):
    """A branch that says how many there are."""

    def select(self, evidence, draws):
        many = str(int(evidence.counts.sum()))
        return super().select(evidence, draws)._replace(branch=many)


class BoundOfThree(WeightedGaussian):
    """The threshold of users of up to three items, where they may hold more."""

    @cached_property
    def threshold(self):
        bound = min(self.max_items_per_user, 3)
        return threshold(sigma=self.sigma, delta=self.cost.lost, max_items_per_user=bound)


class SmallEpsilon(Peeling):
    """Twice the parameter where epsilon is small."""

    @cached_property
    def local_epsilon(self):
        loud = 1 + (self.epsilon < 0.5)
        return loud * Peeling(k=self.k, epsilon=self.epsilon, delta=self.delta).local_epsilon

    cost = property(lambda self: Peeling(k=self.k, epsilon=self.epsilon, delta=self.delta).cost)


class SmallDelta(WeightedGaussian):
    """A threshold for ten times the delta where that is small."""

    @cached_property
    def threshold(self):
        loud = 10 if self.delta < 1e-5 else 1
        return threshold(
            sigma=self.sigma,
            delta=self.cost.lost * loud,
            max_items_per_user=self.max_items_per_user,
        )


class OfUsersOnce(UserPeeling):
    """Picked by all users each time, those that are reached included, at twice the parameter."""

    def select(self, evidence, draws):
        return UserPeeling(k=self.k, epsilon=2 * self.epsilon).select(evidence, draws)


class HalfOfWins(WinCount):
    """Half the noise of wins where there are many."""

    def select(self, evidence, draws):
        if evidence.counts.sum() < 100:
            return super().select(evidence, draws)
        return WinCount(k=self.k, epsilon=2 * self.epsilon).select(evidence, draws)


class ByOutcomes(SpectralRanking):
    """Noise that is less where one item won all."""

    def select(self, evidence, draws):
        all_won = (evidence.wins == evidence.times).all()
        return SpectralRanking(k=self.k, epsilon=self.epsilon * (1 + all_won)).select(
            evidence, draws
        )


class EarlyByOne(ThresholdTopK):
    """Stops as if one row more had been read of each list."""

    def select(self, evidence, draws):
        def early(sources, k, ahead, lengths):
            def sooner(values, last):
                return ahead(values, [page - 1 for page in last])

            return read(sources, k, sooner, lengths)

        with mock.patch.object(threshold_top_k, "read", early):
            return super().select(evidence, draws)


class WithoutLast(ThresholdTopK):
    """The last row that was read does not count."""

    def select(self, evidence, draws):
        def early(sources, k, ahead, lengths):
            seen = read(sources, k, ahead, lengths)
            return type(seen)(seen.ids[:-1], [v[:-1] for v in seen.values])

        with mock.patch.object(threshold_top_k, "read", early):
            return super().select(evidence, draws)


class FirstPage(ThresholdTopK):
    """Nothing is read but the first page."""

    def _ahead(self, values, last):
        return super()._ahead(values, last) | True


class AsIfIndependent(WeightedGaussian):
    """Noise and threshold for twice the delta, as if each told apart were half of it."""

    _noise = cached_property(lambda self: self._twice._noise)

    @property
    def _twice(self):
        bound = self.max_items_per_user
        return WeightedGaussian(
            epsilon=self.epsilon, delta=2 * self.delta, max_items_per_user=bound
        )

    @property
    def cost(self):
        bound = self.max_items_per_user
        given = {"epsilon": self.epsilon, "delta": self.delta}
        return WeightedGaussian(**given, max_items_per_user=bound).cost


class OnePickLess(Peeling):
    """As sharp as if there were one pick less."""

    @cached_property
    def local_epsilon(self):
        return self._fewer.local_epsilon

    @property
    def _fewer(self):
        return Peeling(k=max(self.k - 1, 1), epsilon=self.epsilon, delta=self.delta)

    cost = property(lambda self: Peeling(k=self.k, epsilon=self.epsilon, delta=self.delta).cost)


class ShareForAll(WeightedGaussian):
    """In zCDP, all of delta for the threshold, and the noise as if a share were."""

    @cached_property
    def threshold(self):
        bound = self.max_items_per_user
        return threshold(sigma=self.sigma, delta=2 * self.delta, max_items_per_user=bound)
