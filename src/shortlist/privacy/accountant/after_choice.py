"""The cost of a private choice among several releases with the same stages, and of the release.

Which user is the worst may depend on the choice: for each release the worst user is taken. Proof
note: `docs/proofs/chosen-bound.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np

from shortlist.errors import InputError
from shortlist.privacy._delta_curves import Floats, gaussian_curve
from shortlist.privacy.accountant.composition import Composition
from shortlist.privacy.accountant.cost_of_rounds import RoundsRelease, Schedule, limits_of
from shortlist.privacy.accountant.fitting import largest_parameter
from shortlist.privacy.accountant.gaussian_threshold import least_sigma
from shortlist.privacy.accountant.items_of_one_user import Cases, ItemsOfOneUser
from shortlist.privacy.accountant.stages import is_gaussian, mu_of

_PARTS = 64  # of the range of the choice, in which its losses are looked at
# Of delta, for thresholds; the first where the choice takes little.
_LOST = 0.8, 0.7, 0.65, 0.5, 0.35, 0.2
_REMEMBERED = 512  # deltas
_ROUNDING = 1 + 2.0**-40  # of a few float operations


@dataclass(frozen=True)
class AfterChoice(Composition):
    """A choice of bounded range, and the stages of the release that was chosen.

    Attributes:
        choice: The range of the choice: its privacy loss lies in [t - choice, t] for some t.

    >>> from shortlist.privacy.accountant import GaussianStage
    >>> alone = Composition((GaussianStage(0.2),))
    >>> after = AfterChoice(alone.stages, choice=0.01)
    >>> round(alone.delta(1.0) * 1e9, 2), round(after.delta(1.0) * 1e9, 2)
    (17.55, 17.77)
    """

    choice: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.choice <= 1:  # a larger one would be looked at too coarsely
            raise InputError("must be from 0 to 1", given={"choice": self.choice})

    @cached_property
    def chosen(self) -> Composition:
        return Composition(self.stages, self.own_items)

    @cached_property
    def rho(self) -> float:
        return (self.choice**2 / 8 + self.chosen.rho) * _ROUNDING

    @lru_cache(maxsize=_REMEMBERED)  # noqa: B019 - as in `Composition`
    def delta(self, epsilon: float, *, fineness: float = 1.0) -> float:
        # The worst choice has two losses, t and t - choice. Where the release is normal noise, the
        # worst t is looked for part by part; else the loss is taken to be the whole range, which
        # costs little where that is small.
        curve = self._curve_of_noise()
        if curve is None:
            least = epsilon - self.choice * _ROUNDING
            return _reflected(lambda x: self.chosen.delta(x, fineness=fineness), least)
        ends = np.linspace(0.0, self.choice, _PARTS + 1)
        values = np.minimum(curve(epsilon + np.concatenate((-ends, self.choice - ends))), 1.0)
        high, low = np.split(values, 2)
        if not self.choice:
            return float(high[0])
        often, rare = (part[:-1] / math.expm1(self.choice) for part in self._weights(ends))
        return min(float(np.max(often * high[1:] + rare * low[1:])) * _ROUNDING, 1.0)

    def _weights(self, largest: Floats) -> tuple[Floats, Floats]:
        """The probabilities of the losses t and t - choice, times exp(choice) - 1.

        They make the mean of exp(-loss) 1. The first falls with t.
        """
        return np.exp(largest) * np.expm1(self.choice - largest), np.expm1(largest)

    @lru_cache(maxsize=_REMEMBERED)  # noqa: B019 - as in `Composition`
    def own_items_delta(self, epsilon: float, *, fineness: float = 1.0) -> float:
        # Whether the worst user holds an item alone may depend on what was chosen.
        return self.delta(epsilon, fineness=fineness)

    def least_delta(self, epsilon: float, *, fineness: float = 1.0) -> float:
        # The choice makes delta no less.
        return self.chosen.least_delta(epsilon, fineness=fineness)

    def _curve_of_noise(self) -> Callable[[Floats], Floats] | None:
        """The delta of the release at each epsilon, below 0 too; None where that takes a grid."""
        if not is_gaussian(self.merged):
            return None
        if not isinstance(self.own_items, ItemsOfOneUser):
            lost = 0.0 if self.own_items is None else self.own_items.delta
            cases = Cases(np.ones(1), np.array([lost]))
        elif self.own_items.by_coin:
            return None
        else:
            cases = self.own_items.cases

        def curve(epsilons: Floats) -> Floats:
            found = np.zeros(len(epsilons))
            for shared, lost in zip(*(numbers.tolist() for numbers in cases), strict=True):
                mu = mu_of(self.merged, shared) * (1 + 2.0**-49)
                found = np.maximum(found, lost + gaussian_curve(epsilons, mu, up=True))
            return found * _ROUNDING

        return curve


def _reflected(delta: Callable[[float], float], epsilon: float) -> float:
    """The delta at an epsilon that may be below 0, where `delta` holds in both directions."""
    if epsilon >= 0:
        return delta(epsilon)
    return min((1 - math.exp(epsilon) * (1 - delta(-epsilon))) * _ROUNDING, 1.0)


def after_choice(
    release: RoundsRelease, schedule: Schedule, bound: int, choice: float
) -> AfterChoice:
    """The cost of a choice among bounds on users' items, and of rounds at the bound chosen.

    The noise and the delta of the thresholds are the same at each bound, and the largest bound
    covers the users at every smaller one.
    """
    rounds = release.composition(schedule, bound)
    return AfterChoice(rounds.stages, rounds.own_items, choice)


def fitted_after_choice(
    schedule: Schedule, *, epsilon: float, delta: float, bound: int, choice: float
) -> RoundsRelease:
    """The noise of rounds after a choice, and the delta of their thresholds.

    Of several shares of delta for the thresholds, the one that gives the lowest last threshold.

    Raises:
        InputError: Delta is too small.
    """
    near = 1 / least_sigma(epsilon=epsilon, delta=delta)

    def with_loss(lost: float) -> RoundsRelease:
        def spent(mu: float, _: float) -> float:
            return after_choice(RoundsRelease(1 / mu, lost), schedule, bound, choice).delta(epsilon)

        mu = largest_parameter(spent, delta=delta, near=near, fineness=1.0)
        return RoundsRelease(1 / mu, lost)

    def threshold(release: RoundsRelease) -> float:
        return limits_of(schedule, release, bound).thresholds[-1]

    best, *others = (partial(with_loss, share * delta) for share in _LOST)
    found = best()
    # From the best one on, each is worse than the one before.
    for other in others:
        if threshold(one := other()) >= threshold(found):
            break
        found = one
    return found
