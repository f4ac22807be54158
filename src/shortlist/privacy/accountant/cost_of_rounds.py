"""Noisy weights summed up in rounds, each steered by what those before released: their cost.

A user who alone holds n of d items spends at least the share `floor` · n/d of the squared norm on
them in every later round, so that the noise on the items of others hides more of the user. And one
of the n is named with a small probability only. Proof note: `docs/proofs/adaptive-gaussian.md`.

Rounds may stop early, for something else that looks at users' whole rows. All of it then costs no
more than normal noise, whenever the rounds stop; only the first round is sure to be run, and to
spend less on others' items where a user alone holds some. Proof note:
`docs/proofs/adaptive-hitting-set.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from shortlist.errors import InputError
from shortlist.privacy._delta_curves import Floats, upper_quantiles
from shortlist.privacy.accountant.composition import Composition
from shortlist.privacy.accountant.fitting import largest_share, noise_on_weights, normal_noise
from shortlist.privacy.accountant.gaussian_threshold import sigma_to_spare
from shortlist.privacy.accountant.items_of_one_user import (
    Cases,
    ItemsOfOneUser,
    blocks,
    require_bound,
)
from shortlist.privacy.accountant.stages import GaussianStage, LossStage, Stages
from shortlist.privacy.rounding import round_down, round_up

_STEP = 1.05  # from one share of items of one user alone to the next that is looked at
_RESERVED = 0.0, 0.3, 0.5  # of delta, for thresholds; with the last there is always enough
_ENOUGH = 0.25  # of delta, for thresholds
_REACHABLE = 2.0**24  # of noise and thresholds: sums of all rounds are far from where numbers end
_SLACK = 1e-11  # relative, of quantiles and sums of floats


@dataclass(frozen=True)
class ItemsInRounds(ItemsOfOneUser):
    """Items that one user alone may hold, weighed in rounds that look at earlier rounds' noise.

    That noise decides where the user's other items stand. So whether an item of one user alone is
    named is no coin of its own: its probability is mass that is lost.

    Attributes:
        delta: The probability that an item is named of a user who alone holds all items of theirs.
        kept: The share of the squared norm that items of one user alone take at least, over their
            share of the user's items.
        bound: The most items of one user.
    """

    delta: float
    kept: float
    bound: int
    by_coin: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 <= self.delta < 1:
            raise InputError("must be in [0, 1)", given={"delta": self.delta})
        if not 0 <= self.kept <= 1:
            raise InputError("must be in [0, 1]", given={"kept": self.kept})
        require_bound(self.bound)

    @cached_property
    def cases(self) -> Cases:
        """Users who alone hold none, a part (in blocks of its size) or all of their items."""
        least, most = 1 / self.bound, 1 - 1 / self.bound
        n = max(math.ceil(math.log(most / least) / math.log(_STEP)), 0) if most > 0 else -1
        ends = np.minimum(least * _STEP ** np.arange(n + 1), most)
        starts = np.append(least, ends[:-1])[: len(ends)] * (1 - 2.0**-50)
        shared = np.minimum((1 - self.kept * starts) * (1 + 2.0**-50), 1.0)
        lost = np.minimum(ends * (1 + 2.0**-50), 1.0) * self.delta
        return Cases(np.array([1.0, *shared, 0.0]), np.array([0.0, *lost, self.delta]))


@dataclass(frozen=True)
class Schedule:
    """How the rounds share what may be spent.

    Attributes:
        parts: The precision of each round's noise, in parts of the whole: whole numbers.
        floor: The share of the squared norm that a user spends evenly in the later rounds.
        losses: Each round's part of the probability that an item of one user alone is named.
        cap: How many times the even weight an item may get in later rounds, at most.
        raised: By how much more than that of an even weight the last threshold may need in all, as
            a share, so that an item of few may get more; None where it does not matter.
    """

    parts: tuple[int, ...]
    floor: Fraction
    losses: tuple[float, ...]
    cap: float
    raised: float | None = None

    @property
    def rounds(self) -> int:
        return len(self.parts)

    @property
    def whole(self) -> int:
        return sum(self.parts)

    def so_far(self, rounds: int) -> int:
        """The parts of the first so many rounds."""
        return sum(self.parts[:rounds])

    def spent(self, rounds: int) -> Fraction:
        """The share of the whole that so many rounds spend."""
        return Fraction(self.so_far(rounds), self.whole)

    def left(self, rounds: int) -> Fraction:
        """The share that so many rounds leave."""
        return 1 - self.spent(rounds)

    @property
    def kept(self) -> float:
        """As `ItemsInRounds.kept`, rounded down."""
        first = self.spent(1)
        return round_down(first + (1 - first) * self.floor)


class Limits(NamedTuple):
    """What users of each size may do, and when an item is named.

    Attributes:
        thresholds: The least mean of all noisy weights so far at which an item is named, for each
            round.
        first: Where blocks of users' sizes begin, shape (n,).
        caps: The largest weight of an item in later rounds, for each block, shape (n,).
    """

    thresholds: tuple[float, ...]
    first: Floats
    caps: Floats


class RoundsRelease(NamedTuple):
    """The noise of all rounds together, and what is lost.

    Attributes:
        sigma: The standard deviation of the mean of all rounds' noise, at ℓ2 sensitivity 1.
        lost: The probability that an item is named which one user alone holds.
    """

    sigma: float
    lost: float

    def composition(self, schedule: Schedule, bound: int) -> Composition:
        """What the release costs, of users with at most `bound` items after bounding."""
        mu = 1 / self.sigma * (1 + 2.0**-50)
        own_items = ItemsInRounds(self.lost, schedule.kept, bound)
        return Composition((GaussianStage(mu, on_weights=True),), own_items)


def fitted(
    composition: Callable[[RoundsRelease], Composition], *, epsilon: float, delta: float
) -> RoundsRelease:
    """The least noise that the guarantee allows, and then nearly the largest delta of thresholds.

    Args:
        composition: All that is composed, from the noise of it all and the delta of the thresholds.
        epsilon: Of the guarantee, above 0.
        delta: Of the guarantee, in (0, 1).

    Raises:
        InputError: Delta is too small.
    """
    for reserved in _RESERVED:
        sigma = sigma_to_spare(epsilon=epsilon, delta=delta * (1 - reserved))

        def spent(lost: float, sigma: float = sigma) -> float:
            return composition(RoundsRelease(sigma, lost)).delta(epsilon)

        lost = largest_share(spent, delta=delta, least=_ENOUGH * delta)
        if lost > 0:
            return RoundsRelease(sigma, lost)
    raise InputError("no threshold can be fitted to it", given={"delta": delta})


def limits_of(schedule: Schedule, release: RoundsRelease, bound: int) -> Limits:
    """The largest weights in later rounds, and thresholds that hold for every size of a user.

    Before an item of a user who alone holds d items is named, each of them has a mean weight of at
    most x after round r: that of the first round's even weight and the later rounds' largest. It
    passes the threshold of round r with probability at most w lost / d, w the round's part.

    Raises:
        OverflowError: The noise or a threshold is beyond what fixed-point numbers hold.
    """
    first, last = blocks(bound)
    even, one = 1 / np.sqrt(first) * (1 + 2.0**-50), schedule.parts[0] / schedule.whole
    caps = np.minimum(1.0, schedule.cap * even)
    if schedule.raised is not None:
        noise = release.sigma * upper_quantiles(release.lost * schedule.losses[-1] / last)
        room = (1 + schedule.raised) * np.max(even + noise) - noise - one * even
        caps = np.minimum(caps, room / (1 - one))
    caps = np.maximum(even, caps)
    thresholds = []
    for r, loss in enumerate(schedule.losses):
        so_far = schedule.so_far(r + 1)
        weight = (schedule.parts[0] * even + (so_far - schedule.parts[0]) * caps) / so_far
        quantiles = upper_quantiles(release.lost * loss / last)
        noise = release.sigma * math.sqrt(schedule.whole / so_far) * quantiles
        levels = weight + noise
        slack = _SLACK * (weight + np.abs(noise) + release.sigma * math.sqrt(schedule.whole))
        thresholds.append(float(np.max(levels + slack)))
    if not max(release.sigma, *map(abs, thresholds)) <= _REACHABLE:
        raise OverflowError  # whole numbers that noisy sums are held against would wrap around
    return Limits(tuple(thresholds), first, caps)


@lru_cache(maxsize=64)
def sd_of_round(schedule: Schedule, sigma: float, r: int) -> float:
    """The standard deviation of the noise of round r alone, counted from 0, rounded up."""
    ratio = Fraction(math.sqrt(schedule.whole / schedule.parts[r])) * (1 + Fraction(1, 2**50))
    return round_up(Fraction(sigma) * ratio)


def zcdp_of_noise(sigma: float) -> float:
    """Of normal noise of this standard deviation, at ℓ2 sensitivity 1; rounded down."""
    return round_down(1 / (2 * Fraction(sigma) ** 2))


def with_a_stop(
    release: RoundsRelease, first: float, bound: int, *, lost: float = 0.0
) -> Composition:
    """What rounds that may stop early cost, together with what follows them.

    Args:
        release: The noise that all of it is worth together, and the delta of the thresholds.
        first: At most the share of the first round.
        bound: The most items of one user.
        lost: By how much the delta of what follows may be above that of its noise.
    """
    rho = zcdp_of_noise(release.sigma)
    stages: Stages = noise_on_weights(rho * first), normal_noise(rho * (1 - first))
    if lost:
        stages += (LossStage(lost),)
    return Composition(stages, ItemsInRounds(release.lost, 1.0, bound))
