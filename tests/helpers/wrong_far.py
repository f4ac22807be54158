"""Mechanisms with one mistake each, from some size or setting on."""

from functools import cached_property

import numpy as np

from shortlist.mechanisms import Peeling, Selection, WeightedGaussian, WinCount
from shortlist.mechanisms.peeling import peel
from shortlist.privacy.calibration import threshold


class Underflow(Peeling):
    """An item whose odds are 0 as floats is never picked."""

    def select(self, evidence, draws):
        counts = evidence.counts
        near = np.flatnonzero((counts - counts.max(initial=0)) * self.local_epsilon > -745)
        if len(near) < self.k:
            return super().select(evidence, draws)
        return Selection(near[peel(counts[near], self.k, self.local_epsilon, draws)])


class As32Bits(Peeling):
    """Counts of another type."""

    kind = np.int32

    def select(self, evidence, draws):
        counts = evidence.counts.astype(self.kind).astype(np.int64)
        return Selection(peel(counts, self.k, self.local_epsilon, draws))


class AsFloats(As32Bits):
    """Counts as floats: one user more may count as two."""

    kind = np.float32


class TiesInOrder(Peeling):
    """Many items that are equal, as they come."""

    def select(self, evidence, draws):
        counts = np.sort(evidence.counts)[::-1]
        if len(counts) >= 8 and counts[7] == counts[0]:
            return Selection(np.arange(self.k))
        return super().select(evidence, draws)


class Louder(Peeling):
    """Three times the parameter where something is so."""

    def select(self, evidence, draws):
        loud = self.local_epsilon * (3 if self.is_loud(evidence.counts) else 1)
        return Selection(peel(evidence.counts, self.k, loud, draws))


class TenItems(Louder):
    """Where there are ten items."""

    def is_loud(self, counts):
        return len(counts) >= 10


class SixPicks(Louder):
    """Where six are picked."""

    def is_loud(self, _):
        return self.k >= 6


class FewEpsilon(Louder):
    """Where epsilon is small."""

    def is_loud(self, _):
        return self.epsilon < 0.15


class MiddleCount(Louder):
    """Where the largest count lies between."""

    def is_loud(self, counts):
        return 40 < counts.max(initial=0) < 90


class BoundOfFive(WeightedGaussian):
    """The threshold of users of five items, where they may hold more."""

    @cached_property
    def threshold(self):
        most = min(self.max_items_per_user, 5)
        delta = self.cost.lost
        return threshold(sigma=self.sigma, delta=delta, max_items_per_user=most)


class SixComparisons(WinCount):
    """Noise for six comparisons, where users have made more."""

    @property
    def scale(self):
        return min(self.max_comparisons_per_user, 6) / self.epsilon
