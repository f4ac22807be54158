"""Set union in rounds, as a loop whose steps can be exchanged, and with one mistake each."""

import math

import numpy as np

from shortlist import kernels
from shortlist.algorithms.search_in_rounds import Found, Search
from shortlist.mechanisms import AdaptiveGaussian


class Loop(Search):
    """The right one."""

    def found(self, held, draws):
        sums = held.added_up(kernels.weigh, self._even_weights(held.largest))
        items = np.flatnonzero(sums)
        heard, every_sum = [], [sums[items]]
        found, dropped = np.zeros((2, len(items)), np.bool_)
        for r in range(self.schedule.rounds - 1):
            heard.append(self._noisy(every_sum[-1], r, draws))
            found |= self.reached(heard, every_sum, draws) & ~dropped
            dropped |= ~found & (self.so_far(heard) < self._least_kept[r])
            boosts = np.full(held.n_items, kernels.FOUND, np.int16)
            boosts[items[~found]] = self.wanted(heard)[~found]
            boosts[items[dropped]] = kernels.DROPPED
            every_sum.append(self.steered(held, boosts)[items])
        left = np.flatnonzero(~found & ~dropped)
        found[left] = draws.coin(self.last(heard, every_sum, left, draws))
        return Found(items[found], heard[0][found] * (self.grid.step / 2**20))

    def so_far(self, heard):
        parts = self.schedule.parts
        return sum(part * rounded for part, rounded in zip(parts, heard, strict=False))

    def reached(self, heard, _every_sum, _draws):
        return self.so_far(heard) >= self._bars[len(heard) - 1]

    def wanted(self, heard):
        return self._boosts(len(heard) - 1, self.so_far(heard))

    def steered(self, held, boosts):
        left, kept = held.sizes.copy(), np.empty_like(held.items)
        dropped = np.zeros_like(left)
        tables = self._floors(held.largest), self._caps(held.largest)
        return held.added_up(kernels.steer, left, kept, dropped, boosts, *tables)

    def last(self, heard, every_sum, left, _draws):
        return self._last(self.so_far(heard)[left], every_sum[-1][left])


class FloorOnTop(Loop):
    """What is spent evenly is not taken from the rest."""

    def steered(self, held, boosts):
        sums = np.zeros(held.n_items, np.int64)
        for start, size in zip(held.starts.tolist(), held.sizes.tolist(), strict=True):
            left = [i for i in held.items[start : start + size].tolist() if boosts[i] >= 0]
            total = sum(int(boosts[i]) ** 2 for i in left)
            for i in left:
                square = 1 / size + (int(boosts[i]) ** 2 / total if total else 0)
                sums[i] += math.floor(math.sqrt(square) * 2**20)
        return sums


class OneRound(Loop):
    """The last test is held against the noise of its own round, with the bar for all noise."""

    def last(self, heard, every_sum, left, draws):
        part = self.schedule.parts[-1]
        missing = [0 * rounded for rounded in heard]
        return super().last(missing, [every_sum[-1] * self.schedule.whole // part], left, draws)


class Afresh(Loop):
    """Each test draws new noise, on all sums so far."""

    def reached(self, _heard, every_sum, draws):
        return super().reached(self.fresh(every_sum, draws), every_sum, draws)

    def last(self, _heard, every_sum, left, draws):
        return super().last(self.fresh(every_sum[:-1], draws), every_sum, left, draws)

    def fresh(self, every_sum, draws):
        return [self._noisy(sums, r, draws) for r, sums in enumerate(every_sum)]


class Peeking(Loop):
    """An item is worth a boost only while it is the only one, of all that anybody holds."""

    def wanted(self, heard):
        alive = self.so_far(heard) >= 0
        return (2**11 * alive * (alive.sum() == 1)).astype(np.int16)


def in_wrong_rounds(kind, **given):
    """Adaptive Gaussian on a coarse grid, with such rounds."""

    class Wrong(AdaptiveGaussian):
        @property
        def search(self):
            return kind(**vars(super().search))

    given = {"epsilon": 2.0, "delta": 0.2, "max_items_per_user": 2, "rounds": 2} | given
    return Wrong(**given, design=AdaptiveGaussian.design.coarse)
