"""Mechanisms with one mistake each, of the kinds that were made: an audit must catch each."""

import math
from bisect import bisect
from dataclasses import replace
from functools import cached_property
from itertools import accumulate

import numpy as np

from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws, Order
from shortlist.draws.noise import Laplace
from shortlist.evidence import WeightedHistogram
from shortlist.mechanisms import (
    Adjacency,
    DiscoverThenRank,
    Joint,
    LimitedDomain,
    OneShotLaplace,
    Peeling,
    PermuteAndFlip,
    PolicyGaussian,
    Selection,
    UserPeeling,
    WeightedGaussian,
    WinCount,
)
from shortlist.mechanisms.peeling import peel
from shortlist.privacy import Pure
from shortlist.privacy.calibration import threshold


class FlipOfBoundedRange(PermuteAndFlip):
    """Permute-and-flip charged epsilon²/8, as if it were the exponential mechanism."""

    @property
    def cost(self):
        return Pure.bounded_range(self.local_epsilon) * self.k


class OneRound(Peeling):
    """Peeling charged for one pick, however many there are."""

    local_epsilon = cached_property(lambda self: self.epsilon)

    @property
    def cost(self):
        return Pure.bounded_range(self.local_epsilon)


class BothWays(Peeling):
    """Peeling without the factor 2, where counts may move either way."""

    @property
    def adjacency(self):
        return Adjacency.GENERAL.value


class Retold(OneShotLaplace):
    """The noise that ranks told with the items, where a user is in any number of counts."""

    @property
    def _hides_counts(self):
        return True


class Quiet(OneShotLaplace):
    """Noise that is 1.1 times too small."""

    factor = 1.1

    def _calibrated(self, *given):
        return super()._calibrated(*given) / self.factor


class Quieter(Quiet):
    factor = 2


class SoleLeader(Peeling):
    """A pick among four by who leads alone, which may change at once where counts move both ways.

    What it does at one or the other leader is too far apart, and nothing else is.
    """

    adjacency = Adjacency.GENERAL.value
    cost = property(lambda self: Pure(self.epsilon))

    def select(self, evidence, draws):
        leads = evidence.counts == evidence.counts.max()
        alone = leads.sum() == 1
        odds = 1.3 if alone and len(leads) == 4 else 0.5
        return Selection(peel((leads & alone).astype(np.int64), 1, self.epsilon * odds, draws))


class Understated(Peeling):
    """A cost of less than the parameter that the picks are made with."""

    cost = property(lambda self: Pure(0.8 * self.epsilon, self.epsilon**2 / 2))


class SilentIfOdd(WeightedGaussian):
    """Names nothing where an odd number of items is held."""

    def select(self, evidence, draws):
        if len(evidence.counts) % 2:
            return Selection(np.empty(0, int), np.empty(0), ordered=False, noise_sd=self.sigma)
        return super().select(evidence, draws)


class FlagTells(WeightedGaussian):
    """Whether the order of the answer means anything depends on a count."""

    def select(self, evidence, draws):
        some = evidence.counts.max(initial=0) > 2
        return super().select(evidence, draws)._replace(ordered=bool(some))


class Decides(OneShotLaplace):
    """Tells the counts as they are once the first noisy one is large."""

    is_large = staticmethod(lambda value: value > 4.5)

    def select(self, evidence, draws):
        told = super().select(evidence, draws)
        if len(told.scores) and self.is_large(told.scores[0]):
            return told._replace(scores=evidence.counts[told.positions].astype(float))
        return told


class QuietWhereMany(Peeling):
    """Twice the parameter where an item is held by many, but by fewer than universes look at."""

    def select(self, evidence, draws):
        many = 10 < evidence.counts.max() < 25
        honest = Peeling(k=self.k, epsilon=self.epsilon * (1 + many))
        return honest.select(evidence, draws)


class QuietlyTold(OneShotLaplace):
    """Noise that ranks right; of three items and more, values with a quarter of it are told."""

    def select(self, evidence, draws):
        right = super().select(evidence, draws)
        if len(evidence.counts) < 3:
            return right
        again = draws.order(
            Order(evidence.counts, [Laplace(self._pure_scale / 4)], digits=0, unit=1.0)
        )
        return Selection(right.positions, again.by_position()[right.positions])


class FinelyTold(OneShotLaplace):
    """Values are rounded more finely where the first count is small."""

    def select(self, evidence, draws):
        noise, digits = Laplace(self._pure_scale), -int(evidence.counts[0] > 1)
        told = draws.order(Order(evidence.counts, [noise], digits=digits, unit=1.0, k=self.k))
        return Selection(told.positions, told.values)


class ThresholdForOne(WeightedGaussian):
    """The threshold for users of one item, where they hold several."""

    threshold = cached_property(
        lambda self: threshold(sigma=self.sigma, delta=self.cost.lost, max_items_per_user=1)
    )


class RowOrder(LimitedDomain):
    """Of the counts that tie at the last place looked at, the first rows take part."""

    def select(self, evidence, draws):
        picked = super().select(evidence, draws).positions
        counts = evidence.counts
        last = np.sort(counts)[::-1][: self.k_bar].min(initial=len(counts))
        rows = iter(np.flatnonzero(counts == last).tolist())
        return Selection(np.array([next(rows) if counts[i] == last else i for i in picked], int))


class FullDeltaTwice(DiscoverThenRank):
    """Both thresholds with all of the delta that is for the two together."""

    @property
    def gaussians(self):
        honest = super().gaussians
        return replace(honest, delta=2 * honest.delta)


class Repeating(Joint):
    """JOINT whose second item is drawn as if the first were still there."""

    def select(self, evidence, draws):
        first = super().select(evidence, draws).positions
        again = super().select(evidence, draws).positions
        return Selection(np.append(first[:1], again[:1]))


class Seeded(Peeling):
    """Noise from a seed in the code."""

    def select(self, evidence, draws):  # noqa: ARG002 - the mistake
        return super().select(evidence, ExactDraws(SeededBits(1)))


_UP_TO = np.array([2**16])


class FewBits(Peeling):
    """A pick by a uniform number of 16 bits: what is less likely than 2^-16 may never happen."""

    def select(self, evidence, draws):
        counts = evidence.counts.tolist()  # lists: all 65,536 branches are taken
        odds = [math.exp(self.local_epsilon * (count - max(counts))) for count in counts]
        uniform = int(draws.integer(_UP_TO)[0]) / 2**16
        return Selection(np.array([bisect(list(accumulate(odds)), uniform * sum(odds))]))


class CountsAsHeld(WeightedGaussian):
    """Whole counts in the place of weights: users of several items weigh too much."""

    def select(self, evidence, draws):
        whole = evidence.counts * 2**32
        changed = WeightedHistogram(whole, evidence.counts, evidence.max_items_per_user)
        return super().select(changed, draws)


class OneRoundOfUsers(UserPeeling):
    """User peeling charged for one pick, however many there are."""

    local_epsilon = cached_property(lambda self: self.epsilon)

    @property
    def cost(self):
        return Pure.bounded_range(self.local_epsilon)


class StopsWhenReached(UserPeeling):
    """User peeling that ends where no user is left."""

    def select(self, evidence, draws):
        picked = super().select(evidence, draws).positions
        unreached, kept = evidence.unreached(np.arange(evidence.n_items)), 0
        while kept < len(picked) and unreached.counts.any():
            unreached.reach(int(picked[kept]))
            kept += 1
        return Selection(picked[:kept])


class PolicyForOne(PolicyGaussian):
    """The threshold for users of one item, where they hold several."""

    threshold = cached_property(
        lambda self: threshold(sigma=self.sigma, delta=self.cost.lost, max_items_per_user=1)
    )


class OneComparison(WinCount):
    """Noise for one comparison, where users have made several."""

    _changed = 1
