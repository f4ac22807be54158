"""What a mechanism asks of one draw, and the loss of that draw between two neighbours.

Of two tables, one has a user more. The items that this user alone holds have the last codes, so
that what is asked about items of both tables comes first, in the same order.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from shortlist.audit.transcripts._spent import Differs, Spent, Unfollowed
from shortlist.draws import Floats, Ints
from shortlist.draws.contract import Noise, Ordered
from shortlist.draws.noise import Exponential, Gumbel, Laplace, Normal
from shortlist.draws.reals import ExponentialWeights

_NODES = 400  # of a quadrature
_FARTHEST = 45.0  # in the time until permute-and-flip has named an item
_CLOSE = 1e-12  # of log odds: less is the rounding of floats


class Asked(ABC):
    """One call of `Draws`, as a table with a user more makes it.

    Attributes:
        noise: How much normal noise it asks for: 1, or 0.
        picks: How many other draws that a stage has to account for.
    """

    noise: int = 0
    picks: int = 0

    @property
    @abstractmethod
    def law(self) -> tuple[object, ...]:
        """What must not depend on the data; calls of one law are one stage on all paths."""

    @abstractmethod
    def spent(self, other: Any) -> Spent:
        """The loss against the same call on the table without the user.

        Raises:
            Differs: No loss is small enough: the two calls ask for different laws.
        """

    @abstractmethod
    def answer(self, outcome: Any, other: Any) -> Any:
        """The same outcome, as the table without the user would have it.

        Raises:
            Unfollowed: It would not have that outcome.
        """


@dataclass(frozen=True, eq=False)
class Noisy(Asked):
    """Scores in noise: told, ordered, or held against a bound.

    Attributes:
        scores: In natural units, shape (n,).
        noises: What is added to each.
        shared: What is added to all, once; None if nothing is.
        bounds: What each is held against; None where the mechanism decides later, or nothing.
        k: How many of the best are told in order; None for all.
        told: Whether noisy values are told.
        step: Between the values that noisy ones are rounded down to; None where they are not.
        ends: The lowest and the highest of these, in steps.
    """

    scores: Floats
    noises: Sequence[Noise]
    shared: Noise | None = None
    bounds: Floats | None = None
    k: int | None = None
    told: bool = True
    step: float | None = None
    ends: tuple[int, int] = (0, 0)

    def spent(self, other: Noisy) -> Spent:
        """By the law of the noise that was not drawn, or conditioned on, before."""
        n = len(other.scores)
        if n > len(self.scores) or len(self.noises) != len(other.noises):
            raise Differs("it asks for noise on more items without the user")
        if self.law != other.law:
            raise Differs("the noise depends on the data")
        moved = self.scores[:n] - other.scores
        spent = Spent(lost=self._own(n))
        for noise in self.noises:
            if not is_known(noise):
                spent += self._of(noise, moved)
        return spent

    @property
    def noise(self) -> int:  # type: ignore[override]
        return int(any(isinstance(noise, Normal) for noise in self.noises))

    @property
    def picks(self) -> int:  # type: ignore[override]
        """One; or as many as are named by Gumbel noise, or rendered in Laplace noise."""
        some = min(self.k or len(self.scores), len(self.scores))
        if any(isinstance(noise, Gumbel) for noise in self.noises):
            return some
        return 0 if self.noise else some if self.told else 1

    @property
    def law(self) -> tuple[object, ...]:
        noises = [*self.noises, *([] if self.shared is None else [self.shared])]
        return (*map(_law_of, noises), self.step, self.ends, self.k, self.told)

    def _of(self, noise: Noise, moved: Floats) -> Spent:
        if isinstance(noise, Normal):
            return Spent(squares=self._squares(noise.sd, moved))
        some = len(moved) if self.told or self.k is None else min(self.k, len(moved))
        reach = _reach(moved)
        if isinstance(noise, Gumbel) and not self.told:
            return Spent(ranges=(reach / noise.scale,) * some if reach else ())
        if isinstance(noise, Laplace) and (self.told or np.abs(moved).sum() <= some * reach):
            return Spent(pures=tuple((np.abs(moved[moved != 0]) / noise.scale).tolist()))
        if isinstance(noise, Laplace | Exponential) and not self.told:
            return Spent(pures=(some * reach / noise.scale,) if reach else ())
        raise Differs(f"no loss is known of {type(noise).__name__}")

    def _squares(self, sd: float, moved: Floats) -> float:
        """Squared shifts over variances; where noise is shared, by the inverse covariance."""
        each = float(moved @ moved) / sd**2
        if not isinstance(self.shared, Normal):
            return each
        total, shared = float(moved.sum()), self.shared.sd**2
        return each - shared * total**2 / (sd**2 * (sd**2 + len(moved) * shared))

    def _own(self, n: int) -> float:
        """The chance that an item of the user alone reaches its bound."""
        if self.bounds is None:
            return 0.0
        sd = math.hypot(*map(_sd, self.noises))
        if not sd:
            return 0.0
        none = np.log1p(-tail((self.bounds[n:] - self.scores[n:]) / sd)).sum()
        return float(-np.expm1(none))

    def answer(self, outcome: Any, other: Noisy) -> Any:
        n = len(other.scores)
        if not isinstance(outcome, Ordered):
            return outcome[:n]
        kept = outcome.positions < n
        values = outcome.values[kept] if len(outcome.values) else outcome.values
        return Ordered(outcome.positions[kept], values)


@dataclass(frozen=True, eq=False)
class Picked(Asked):
    """Independent choices by exponential weights.

    Attributes:
        weights: Of what is chosen from.
        n: How many choices.
        own: How many items the user alone holds.
    """

    weights: ExponentialWeights
    n: int
    own: int = 0

    @property
    def picks(self) -> int:  # type: ignore[override]
        return self.n

    def spent(self, other: Picked) -> Spent:
        """The range of the log odds of all that both tables have."""
        if self.law != other.law:
            raise Differs("the parameter of a pick depends on the data")
        mine, theirs = self._partners(other)
        moved = self._log_odds[mine] - other._log_odds[theirs]
        reach = float(np.ptp(moved)) if len(moved) else 0.0
        chances = np.exp(self._log_odds - np.logaddexp.reduce(self._log_odds))
        lost = float(np.delete(chances, mine).sum()) * self.n
        return Spent(ranges=(reach,) * self.n if reach > _CLOSE else (), picked=lost)

    def reaches(self, outcome: Ints, other: Picked) -> bool:
        """Whether it picks an item that the user raises, and leaves another that the user does."""
        mine, theirs = self._partners(other)
        moved = self._log_odds[mine] - other._log_odds[theirs]
        raised = mine[moved > moved.min() + _CLOSE] if len(moved) else mine
        return len(raised) > 1 and bool(np.isin(outcome, raised).any())

    @property
    def law(self) -> tuple[object, ...]:
        """The parameter, and whether it is a choice between ways."""
        return Picked, self.weights.epsilon, self.is_of_ways, self.n

    @property
    def is_of_ways(self) -> bool:
        """Whether it is between a few public ways to go on, each with odds of its own."""
        return self.weights.ways is not None

    @property
    def _log_odds(self) -> Floats:
        weights = self.weights
        with np.errstate(divide="ignore"):
            sizes = np.log(np.asarray(weights.multiplicities, np.float64))
        log_odds: Floats = sizes - weights.epsilon * (weights.counts[0] - weights.counts)
        return log_odds

    def _partners(self, other: Picked) -> tuple[Ints, Ints]:
        """The places of what both tables have, in each."""
        mine, theirs = self.weights.multiplicities, other.weights.multiplicities
        if self.weights.ways is not None and other.weights.ways is not None:
            first, second = np.argsort(self.weights.ways), np.argsort(other.weights.ways)
            if len(mine) != len(theirs) or not np.array_equal(mine[first], theirs[second]):
                raise Differs("what is public about a choice depends on the data")
            return first, second
        places, others = np.arange(len(mine)), np.arange(len(theirs))
        if len(mine) > len(theirs):  # the items that the user alone holds are a group of their own
            alone = (self.weights.counts == 1) & (mine <= self.own)
            places = np.flatnonzero(~alone)
        if len(places) != len(others):
            raise Differs("it picks from other items than on the neighbour")
        some = np.flatnonzero((mine[places] > 0) & (theirs > 0))
        return places[some], others[some]

    def answer(self, outcome: Ints, other: Picked) -> Ints:
        mine, theirs = self._partners(other)
        place = {int(i): int(j) for i, j in zip(mine, theirs, strict=True)}
        if not set(outcome.tolist()) <= set(place):
            raise Unfollowed("an item of one user alone was picked")
        return np.array([place[i] for i in outcome.tolist()], np.int64)


@dataclass(frozen=True, eq=False)
class Tossed(Asked):
    """Coins of any chances but those of normal noise.

    Attributes:
        chances: Shape (n,).
    """

    chances: Floats
    picks: int = 1

    @property
    def law(self) -> tuple[object, ...]:
        return Tossed, len(self.chances) == 1

    def spent(self, other: Tossed) -> Spent:
        """The larger loss of either side of each coin whose chance differs, and of its odds."""
        n = len(other.chances)
        if n > len(self.chances):
            raise Differs("it tosses more coins without the user")
        mine, theirs = self.chances[:n], other.chances
        moved = np.flatnonzero(np.abs(mine - theirs) > _CLOSE * np.maximum(mine, theirs))
        losses = [_of_coin(*pair) for pair in zip(mine[moved], theirs[moved], strict=True)]
        certain = [(loss, odds) for loss, odds in losses if math.isfinite(loss)]
        sure = [math.isinf(loss) for loss, _ in losses]
        differ = float(np.abs(mine - theirs)[moved[sure]].sum()) if losses else 0.0
        return Spent(coins=tuple(certain), lost=differ + float(self.chances[n:].sum()))

    def answer(self, outcome: Any, other: Tossed) -> Any:
        return outcome[: len(other.chances)]


@dataclass(frozen=True, eq=False)
class Flipped(Asked):
    """One item named by permute-and-flip.

    Attributes:
        weights: Of the classes: how many items each has, and their chance.
    """

    weights: ExponentialWeights
    picks: int = 1

    @property
    def law(self) -> tuple[object, ...]:
        return Flipped, self.weights.epsilon

    def spent(self, other: Flipped) -> Spent:
        """The largest loss of any item."""
        if self.law != other.law:
            raise Differs("the parameter of a pick depends on the data")
        if len(self.weights.counts) != len(other.weights.counts):
            raise Differs("it picks from other items than on the neighbour")
        left = np.flatnonzero(self.weights.multiplicities)
        losses = np.abs(self._log_law - other._log_law)[left]
        loss = float(losses.max(initial=0.0))
        return Spent(pures=(loss,) if loss > _CLOSE else ())

    @property
    def _log_law(self) -> Floats:
        """The logarithm of the chance that an item of each class is named, over their number.

        Items arrive at uniform times y, and the first that is accepted is named: an integral over
        the time -ln(1 - y).
        """
        weights = self.weights
        sizes = np.asarray(weights.multiplicities, np.float64)
        chances = np.exp(-weights.epsilon * (weights.counts[0] - weights.counts))
        times, parts = _quadrature()
        left = np.log1p(np.outer(np.minimum(chances, 1 - 2.0**-53), np.expm1(-times)))
        log_rates = sizes @ left - left - times
        gaps = weights.counts[0] - weights.counts
        log_law: Floats = np.log(np.exp(log_rates) @ parts) - weights.epsilon * gaps
        return log_law

    def answer(self, outcome: int, other: Flipped) -> int:  # noqa: ARG002 - classes are alike
        return outcome


@dataclass(frozen=True, eq=False)
class Dealt(Asked):
    """Uniform integers, such as the order of what is equal, or a subset of a user's items.

    Attributes:
        bounds: Shape (n,).
    """

    bounds: Ints

    @property
    def law(self) -> tuple[object, ...]:
        return (Dealt,)

    def spent(self, other: Dealt) -> Spent:
        """None, where both tables deal the same; what only the user's rows ask for is no loss."""
        n = len(other.bounds)
        if n > len(self.bounds):
            raise Differs("it deals more integers without the user")
        ratios = np.abs(np.log(self.bounds[:n] / other.bounds))
        return Spent(pures=tuple(ratios[ratios > 0].tolist()))

    def answer(self, outcome: Ints, other: Dealt) -> Ints:
        return np.minimum(outcome[: len(other.bounds)], other.bounds - 1)


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Points from 0 to the farthest, and the weight of each."""
    nodes, parts = np.polynomial.legendre.leggauss(_NODES)
    return (nodes + 1) / 2 * _FARTHEST, parts / 2 * _FARTHEST


def tail(distances: Floats) -> Floats:
    """The chance that normal noise exceeds so many of its standard deviations."""
    from scipy.special import ndtr

    chances: Floats = ndtr(-distances)
    return chances


def _reach(moved: Floats) -> float:
    """How far scores move apart, or all together, where a selection is all that is told."""
    return float(max(moved.max(initial=0.0), 0.0) - min(moved.min(initial=0.0), 0.0))


def is_known(noise: Noise) -> bool:
    """Whether an earlier draw has told on which side of a bound it lies: that was paid for."""
    return isinstance(noise, Normal) and noise.above is not None


def _law_of(noise: Noise) -> tuple[object, ...]:
    """The parameters of a noise, which are public."""
    match noise:
        case Normal():
            return Normal, noise.sd, noise.weight
        case Laplace() | Exponential() | Gumbel():
            return type(noise), noise.scale
    return (type(noise),)


def _sd(noise: Noise) -> float:
    return noise.sd * noise.weight if isinstance(noise, Normal) else 0.0


def _of_coin(mine: float, theirs: float) -> tuple[float, float]:
    """The larger loss of a coin's two sides, and both; infinite where one of them is certain."""
    if not (0 < mine < 1 and 0 < theirs < 1):
        return math.inf, math.inf
    losses = abs(math.log(mine / theirs)), abs(math.log1p(-mine) - math.log1p(-theirs))
    return max(losses), sum(losses)
