"""Adaptive top-k with one mistake each, on few branches."""

from dataclasses import replace

import numpy as np

from shortlist.algorithms.search_in_rounds import Search, UntilSafe
from shortlist.draws.noise import Normal
from shortlist.mechanisms import AdaptiveTopK


class Doubled(AdaptiveTopK):
    """The lead counts twice."""

    def _route(self, counts, draws):
        return super()._route(2 * counts, draws)


class WithoutBest(AdaptiveTopK):
    """Ways are scored by the count that is not looked at alone."""

    def _scores_of_ways(self, largest):
        scores = super()._scores_of_ways(largest)
        scores[-1] = 0
        return scores


class Picks(AdaptiveTopK):
    """Always by counts: right, for what it costs."""

    def _route(self, _counts, _draws):
        return self._looked_at[0]


class LowBar(Picks):
    """Nobody has the odds that one item new among those looked at would need."""

    def _nobody(self, _looked_at):
        return super()._nobody(1)


class AllLookedAt(Picks):
    """All items take part, whatever the bar is for."""

    def _picks(self, looked_at):
        return replace(super()._picks(looked_at), looked_at=None)


class InRounds(AdaptiveTopK):
    """Always in rounds: right, for what it costs."""

    def _route(self, _counts, _draws):
        return None


class SmallNorm(InRounds):
    """Noise for users who add 1 at most, whatever the bound."""

    def _measurements(self, rho):
        looks = super()._measurements(rho)
        return replace(looks, sds=(looks.sds[0],) * len(looks.sds))


class RoundTwice(InRounds):
    """The last round that was run counts as left over."""

    def _left(self, rounds):
        return super()._left(rounds - 1)


class _Watched(Search):
    def begin(self, held):
        self.__dict__["progress"] = super().begin(held)
        return self.progress


class _StopsByAll(UntilSafe):
    def is_enough(self, search, rounds, found, estimates):
        progress = search.progress
        near = progress.so_far > 0
        return super().is_enough(search, rounds, found, estimates) and not near.any()


class StopsByAll(InRounds):
    """The rounds stop where nothing else is near."""

    @property
    def search(self):
        return _Watched(**vars(super().search))

    @property
    def _stop(self):
        return _StopsByAll(**vars(super()._stop))


class _Peeking(Search):
    def _boosts(self, _r, so_far):
        alive = so_far >= 0
        return (2**11 * alive * (alive.sum() == 1)).astype(np.int16)


class Peeking(InRounds):
    """An item is worth a boost only while it is the only one."""

    @property
    def search(self):
        return _Peeking(**vars(super().search))


class _Thin(Search):
    def _noisy(self, sums, _r, draws):
        noise = Normal(self.sigma)
        return draws.rounded_down(sums, noise, self.grid, unit=2.0**-20)


class ThinNoise(InRounds):
    """Each round has the noise of their mean."""

    @property
    def search(self):
        return _Thin(**vars(super().search))


def coarse(kind, **given):
    """Such a mechanism as it is enumerated."""
    given = {"epsilon": 2.0, "delta": 0.2, "max_items_per_user": 2, "k": 1} | given
    return kind(**given).audit_hints().coarse
