"""Mechanisms with one mistake each that small, few or best ones do not show: an audit must."""

import math
from dataclasses import replace
from functools import cached_property
from unittest import mock

import numpy as np

from shortlist import privacy
from shortlist.algorithms.threshold_algorithm import read
from shortlist.draws import Order
from shortlist.draws.noise import Laplace
from shortlist.mechanisms import (
    JointOrPeel,
    LimitedDomain,
    OneShotLaplace,
    Peeling,
    Selection,
    ThresholdTopK,
    UserPeeling,
    WeightedGaussian,
    threshold_top_k,
)
from shortlist.mechanisms.peeling import peel
from shortlist.mechanisms.wrappers.noisy_counts import NoisyCounts
from shortlist.privacy import Gaussian, Pure
from shortlist.privacy.accountant import BoundedRange

# --- a private choice


class FreeChoice(JointOrPeel):
    """The choice is charged for nothing: what follows has all of epsilon."""

    whole_epsilon = cached_property(lambda self: self.epsilon)

    def _stages(self, local_epsilon):
        return (BoundedRange(local_epsilon, self.k),)

    @property
    def cost(self):
        one = Pure if self.one_shot else Pure.bounded_range
        return privacy.max(Pure(self.joint_epsilon), one(self.local_epsilon) * self.k)


class SilentChoice(JointOrPeel):
    """The choice is made without noise to speak of."""

    slope = cached_property(lambda _: 1000.0)


# --- noisy counts


class HalfCountNoise(NoisyCounts):
    """Counts with half the noise that they are charged for."""

    def _noisy(self, counts, draws, _unit=1.0):
        noise = self._best.noise
        less = type(noise)(vars(noise).get("sd", vars(noise).get("scale")) / 2)
        return draws.order(Order(counts, [less], unit=1.0, digits=0)).by_position()


class CountsForOne(NoisyCounts):
    """Noise for one changed count, where a user is in several."""

    _changed = 1


class SharedAnew(NoisyCounts):
    """What all counts share is drawn for each anew."""

    def _noisy(self, counts, draws, _unit=1.0):
        way = self._best
        return draws.order(Order(counts, [way.noise, way.shared], unit=1.0, digits=0)).by_position()


class NothingShared(NoisyCounts):
    """What all counts share is forgotten."""

    def _noisy(self, counts, draws, _unit=1.0):
        return draws.order(Order(counts, [self._best.noise], unit=1.0, digits=0)).by_position()


class FloorOnCounts(NoisyCounts):
    """The floor is held against the counts themselves."""

    def select(self, evidence, draws):
        told = NoisyCounts.select(replace(self, min_users=None), evidence, draws)
        named = evidence.counts[told.positions] >= self.min_users
        return told._replace(positions=told.positions[named], scores=told.scores[named])


# --- costs


class LessRho(WeightedGaussian):
    """A cost that understates rho by 3 %."""

    @property
    def cost(self):
        honest = super().cost
        return Gaussian(honest.rho * 0.97, honest.lost)


class LessRhoOfPicks(Peeling):
    """The same of picks, where they are not counted by their exact worst case."""

    @property
    def cost(self):
        honest = super().cost
        return Pure(honest.pure, honest.rho * 0.97) if isinstance(honest, Pure) else honest


class MoreThanAsked(Peeling):
    """A cost that is more than was asked for."""

    local_epsilon = cached_property(lambda self: 1.01 * self.epsilon / self.k)


# --- from some size on


class FromFour(Peeling):
    """Twice the parameter from four items to name on."""

    def select(self, evidence, draws):
        loud = 1 + (self.k >= 4)
        return Selection(peel(evidence.counts, self.k, self.local_epsilon * loud, draws))


class OfFiveItems(Peeling):
    """Twice the parameter from five items on."""

    def select(self, evidence, draws):
        loud = 1 + (len(evidence.counts) >= 5)
        return Selection(peel(evidence.counts, self.k, self.local_epsilon * loud, draws))


class OfLargeTotals(OneShotLaplace):
    """Half the noise where the counts add up to much."""

    loud = 2

    def select(self, evidence, draws):
        many = evidence.counts.sum() > 500
        epsilon = self.epsilon * (self.loud if many else 1)
        honest = OneShotLaplace(k=self.k, epsilon=epsilon)
        return honest.select(evidence, draws)


class LouderOfLargeTotals(OfLargeTotals):
    """A sixth of it."""

    loud = 6


class AtMostThreePicks(Peeling):
    """Charged for three picks at most."""

    @cached_property
    def local_epsilon(self):
        return Peeling(k=min(self.k, 3), epsilon=self.epsilon, delta=self.delta).local_epsilon

    @property
    def cost(self):
        return Pure.bounded_range(self.local_epsilon) * min(self.k, 3)


class StopsEarly(ThresholdTopK):
    """Reading ends one row too early."""

    def select(self, evidence, draws):
        def early(sources, k, ahead, lengths):
            return read(sources, max(k - 1, 1), ahead, lengths)

        with mock.patch.object(threshold_top_k, "read", early):
            return super().select(evidence, draws)


class FloorsAbove(ThresholdTopK):
    """The upper end of what is known of the noise, in the place of the lower."""

    def _ahead(self, values, last):
        scores, leading = values
        most = self._known(leading).most()
        return scores - last[0] + most >= self._known(last[1]).most()


class ThresholdFromTwo(WeightedGaussian):
    """The threshold's maximum over set sizes begins at 2."""

    @cached_property
    def threshold(self):
        from statistics import NormalDist

        quantile = NormalDist().inv_cdf
        sizes = range(2, max(self.max_items_per_user, 2) + 1)
        rest = 1 - self.cost.lost
        return max(1 / math.sqrt(t) + self.sigma * quantile(rest ** (1 / t)) for t in sizes)


class BarFromTwo(LimitedDomain):
    """The bar for users who change half as many items."""

    @cached_property
    def _nobody(self):
        return super()._nobody / 2


# --- state


class Remembers(Peeling):
    """The counts of the table before, in the place of this one's, if there are as many."""

    def select(self, evidence, draws):
        before = vars(self).get("_before", evidence)
        object.__setattr__(self, "_before", evidence)
        alike = len(before.counts) == len(evidence.counts)
        return super().select(before if alike else evidence, draws)


class Caches(Peeling):
    """Picks by what is remembered of the first table of as many items."""

    known = {}  # noqa: RUF012 - the mistake

    def select(self, evidence, draws):
        counts = self.known.setdefault(len(evidence.counts), evidence.counts)
        return Selection(peel(counts, self.k, self.local_epsilon, draws))


class Sorts(Peeling):
    """Puts the table's own counts in order."""

    def select(self, evidence, draws):
        evidence.counts.sort()
        return super().select(evidence, draws)


# --- what is told


class SecondTold(OneShotLaplace):
    """All told values but the best have a third of the noise."""

    factor = 3

    def select(self, evidence, draws):
        told = super().select(evidence, draws)
        noise = [Laplace(self._pure_scale / self.factor)]
        again = draws.order(Order(evidence.counts, noise, digits=0, unit=1.0))
        scores = again.by_position()[told.positions]
        scores[:1] = told.scores[:1]
        return told._replace(scores=scores)


class SecondAsItIs(SecondTold):
    """They have hardly any."""

    factor = 30


class FarDigits(OneShotLaplace):
    """Far behind the point stands the count."""

    def select(self, evidence, draws):
        told = super().select(evidence, draws)
        return told._replace(scores=told.scores + 1e-9 * evidence.counts[told.positions])


class MoreDigits(NoisyCounts):
    """Told with more digits where a count is large."""

    large = 2

    def _noisy(self, counts, draws, _unit=1.0):
        digits = int(counts.max(initial=0) > self.large)
        noise = [self._best.noise]
        return draws.order(Order(counts, noise, unit=1.0, digits=digits)).by_position()


class Raises(Peeling):
    """An exception where a count is large."""

    def select(self, evidence, draws):
        if evidence.counts.max(initial=0) > 3:
            raise LookupError(evidence.counts.max())
        return super().select(evidence, draws)


class Beyond(Peeling):
    """A position that does not exist, where a count is large."""

    def select(self, evidence, draws):
        beyond = (evidence.counts.max(initial=0) > 3) * len(evidence.counts)
        return Selection(super().select(evidence, draws).positions + beyond)


class Before(Peeling):
    """A negative one."""

    def select(self, evidence, draws):
        return Selection(super().select(evidence, draws).positions - len(evidence.counts))


class Shapeless(Peeling):
    """Positions in a column."""

    def select(self, evidence, draws):
        return Selection(super().select(evidence, draws).positions[:, None])


class FewerScores(OneShotLaplace):
    """A score less than items."""

    def select(self, evidence, draws):
        told = super().select(evidence, draws)
        return told._replace(scores=told.scores[1:])


class NotANumber(OneShotLaplace):
    """No number where a count is 0."""

    def select(self, evidence, draws):
        told = super().select(evidence, draws)
        none = np.where(evidence.counts[told.positions] == 0, np.nan, 0.0)
        return told._replace(scores=none if evidence.counts.min() == 0 else told.scores)


class OfUsersFromFive(UserPeeling):
    """Twice the parameter from five items on."""

    def select(self, evidence, draws):
        if evidence.n_items < 5:
            return super().select(evidence, draws)
        return UserPeeling(k=self.k, epsilon=2 * self.epsilon).select(evidence, draws)
