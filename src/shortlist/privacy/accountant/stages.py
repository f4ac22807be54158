"""What a mechanism does to private data, stage by stage: the vocabulary of the accountant."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, TypeAlias

from shortlist.errors import InputError

_FARTHEST = 1e300  # of a stage's loss; beyond, floats run out


class Spread(NamedTuple):
    """How far the privacy loss of stages spreads.

    Attributes:
        variance: About the variance of the loss, which is also twice its mean and twice the rho of
            zCDP.
        farthest: The largest loss; infinity where it has no bound.
    """

    variance: float = 0.0
    farthest: float = 0.0

    def __add__(self, other: Spread) -> Spread:  # type: ignore[override]
        return Spread(self.variance + other.variance, self.farthest + other.farthest)


@dataclass(frozen=True)
class _RepeatedStage:
    epsilon: float
    times: int = 1

    def __post_init__(self) -> None:
        _require(0 < self.epsilon <= _FARTHEST, "epsilon", self.epsilon)
        _require(isinstance(self.times, int) and self.times >= 1, "times", self.times)


@dataclass(frozen=True)
class BoundedRange(_RepeatedStage):
    """Exponential mechanisms on scores that one user moves by 0 or 1, all the same way.

    The privacy loss of one lies in [t - epsilon, t] for some t, which an adversary chooses anew for
    each, knowing the losses so far.

    Attributes:
        epsilon: The range.
        times: How many there are, each chosen by what those before released.
    """

    @property
    def spread(self) -> Spread:
        """An epsilon-bounded-range mechanism is epsilon²/8-zCDP."""
        return Spread(self.times * self.epsilon**2 / 4, self.times * self.epsilon)


@dataclass(frozen=True)
class PureStage(_RepeatedStage):
    """Mechanisms of whose privacy loss it is known only that it lies in [-epsilon, epsilon].

    Attributes:
        epsilon: The bound.
        times: How many there are, each chosen by what those before released.
    """

    @property
    def spread(self) -> Spread:
        """An epsilon-DP mechanism is epsilon²/2-zCDP."""
        return Spread(self.times * self.epsilon**2, self.times * self.epsilon)


@dataclass(frozen=True)
class GaussianStage:
    """Normal noise on a vector that one user moves by at most mu standard deviations.

    Attributes:
        mu: The ℓ2 sensitivity over the standard deviation.
        on_weights: Whether the vector is one of weights. If a user has the share 1 - nu of their
            squared norm on items that nobody else holds, then mu sqrt(nu) is left for the others.
    """

    mu: float
    on_weights: bool = False

    def __post_init__(self) -> None:
        _require(self.mu >= 0 and math.isfinite(self.mu), "mu", self.mu)

    @property
    def spread(self) -> Spread:
        """It is mu²/2-zCDP."""
        return Spread(self.mu**2, math.inf if self.mu else 0.0)


@dataclass(frozen=True)
class LossStage:
    """Mass that is lost here, however that depends on the rest.

    Attributes:
        delta: The mass, on either side at most.
    """

    delta: float

    def __post_init__(self) -> None:
        _require(0 <= self.delta < 1, "delta", self.delta)

    @property
    def spread(self) -> Spread:
        """What is left has the same loss as before."""
        return Spread()


@dataclass(frozen=True)
class OwnItemsStage:
    """Here an item that one user alone holds may be named, and nowhere else.

    That is a `LossStage` of as much as the composition's `own_items` say of each kind of user: on
    one way of a branch it costs nothing on the other.
    """

    @property
    def spread(self) -> Spread:
        """As that of mass that is lost."""
        return Spread()


@dataclass(frozen=True)
class EitherStage:
    """A branch: one of two ways to go on, chosen by what was released before.

    Attributes:
        first: The stages of one way, in order.
        second: The stages of the other way.
    """

    first: Stages
    second: Stages

    @cached_property
    def spread(self) -> Spread:
        """The larger spread of the two ways, in each number."""
        both = spread_of(self.first), spread_of(self.second)
        return Spread(max(s.variance for s in both), max(s.farthest for s in both))


Stage: TypeAlias = (
    BoundedRange | PureStage | GaussianStage | LossStage | OwnItemsStage | EitherStage
)
Stages: TypeAlias = tuple[Stage, ...]


def as_stages(stages: Iterable[Stage]) -> Stages:
    """The stages that do anything, with neighbours of one kind made into one stage."""
    merged: list[Stage] = []
    for stage in stages:
        if merged and (both := _as_one(merged[-1], stage)) is not None:
            merged[-1] = both
        elif isinstance(stage, EitherStage):
            merged.append(EitherStage(as_stages(stage.first), as_stages(stage.second)))
        elif not (isinstance(stage, GaussianStage) and stage.mu == 0):
            merged.append(stage)
    return tuple(merged)


def _as_one(one: Stage, other: Stage) -> Stage | None:
    match one, other:
        case GaussianStage(), GaussianStage() if one.on_weights == other.on_weights:
            mu = math.hypot(one.mu, other.mu) * (1 + 2.0**-50)
            return GaussianStage(mu, one.on_weights)
        case BoundedRange(), BoundedRange() if one.epsilon == other.epsilon:
            return BoundedRange(one.epsilon, one.times + other.times)
        case PureStage(), PureStage() if one.epsilon == other.epsilon:
            return PureStage(one.epsilon, one.times + other.times)
    return None


def mu_of(stages: Iterable[Stage], shared: float = 1.0) -> float:
    """The mu of all Gaussians among the stages together.

    `shared` is the share of the user's squared norm that is on items which others hold too.
    """
    parts = (
        stage.mu * math.sqrt(shared) if stage.on_weights else stage.mu
        for stage in stages
        if isinstance(stage, GaussianStage)
    )
    return math.hypot(*parts)


def is_gaussian(stages: Stages) -> bool:
    """Whether all stages are Gaussians; true of no stages, too."""
    return all(isinstance(stage, GaussianStage) for stage in stages)


def has_weights(stage: Stage) -> bool:
    """Whether the stage is noise on weights, or a branch with such a stage."""
    if isinstance(stage, EitherStage):
        return any(map(has_weights, stage.first + stage.second))
    return isinstance(stage, GaussianStage) and stage.on_weights


def without_weights(stages: Stages) -> Stages:
    """The stages without noise on weights."""
    return tuple(
        EitherStage(without_weights(stage.first), without_weights(stage.second))
        if isinstance(stage, EitherStage)
        else stage
        for stage in stages
        if isinstance(stage, EitherStage) or not has_weights(stage)
    )


def names_own_items(stages: Stages) -> bool:
    """Whether a stage says where items of one user alone may be named."""
    return any(
        names_own_items(stage.first + stage.second)
        if isinstance(stage, EitherStage)
        else isinstance(stage, OwnItemsStage)
        for stage in stages
    )


def with_loss(stages: Stages, lost: float) -> Stages:
    """The stages of a user whose own items are named with this probability."""
    return tuple(
        EitherStage(with_loss(stage.first, lost), with_loss(stage.second, lost))
        if isinstance(stage, EitherStage)
        else LossStage(lost)
        if isinstance(stage, OwnItemsStage)
        else stage
        for stage in stages
    )


def lost_of(stages: Stages) -> float:
    """The mass that is lost in all stages, on the way where that is most."""
    total = 0.0
    for stage in stages:
        match stage:
            case LossStage():
                total += stage.delta
            case EitherStage():
                total += max(lost_of(stage.first), lost_of(stage.second))
    return total * (1 + 2.0**-50)


def without_losses(stages: Stages) -> Stages:
    """The stages without mass that is lost on every way: it adds to delta, wherever it is."""
    return tuple(stage for stage in stages if not isinstance(stage, LossStage))


def n_branches(stages: Stages) -> int:
    """The number of branches, with those inside branches."""
    return sum(
        1 + n_branches(stage.first) + n_branches(stage.second)
        for stage in stages
        if isinstance(stage, EitherStage)
    )


def spread_of(stages: Stages) -> Spread:
    """The spread of the privacy loss of all stages together."""
    return sum((stage.spread for stage in stages), Spread())


def _require(holds: object, name: str, value: float) -> None:
    if not holds:
        raise InputError("must be in the range of a stage", given={name: value})


def rho_of(stages: Stages) -> Fraction:
    """The zCDP parameter of all stages, exactly."""
    return sum((_rho(stage) for stage in stages), Fraction(0))


def _rho(stage: Stage) -> Fraction:
    match stage:
        case BoundedRange():
            return stage.times * Fraction(stage.epsilon) ** 2 / 8
        case PureStage():
            return stage.times * Fraction(stage.epsilon) ** 2 / 2
        case GaussianStage():
            return Fraction(stage.mu) ** 2 / 2
        case LossStage() | OwnItemsStage():
            return Fraction(0)
        case EitherStage():
            return max(rho_of(stage.first), rho_of(stage.second))


def farthest_of(stages: Stages) -> Fraction | float:
    """The largest privacy loss of all stages, exactly."""
    total = Fraction(0)
    for stage in stages:
        match stage:
            case GaussianStage() | LossStage() | OwnItemsStage():
                return math.inf
            case EitherStage():
                ways = farthest_of(stage.first), farthest_of(stage.second)
                if math.inf in ways:
                    return math.inf
                total += max(Fraction(way) for way in ways)
            case _:
                total += stage.times * Fraction(stage.epsilon)
    return total


def without_pure_ways(stages: Stages, epsilon: float) -> Stages:
    """The stages without those ways of branches on which the whole loss is at most epsilon."""
    # Such ways add nothing to delta.
    kept: Stages = ()
    for place, stage in enumerate(stages):
        if isinstance(stage, EitherStage):
            others = farthest_of(stages[:place] + stages[place + 1 :])
            ways = [w for w in (stage.first, stage.second) if others + farthest_of(w) > epsilon]
            kept += (stage,) if len(ways) == 2 else ways[0] if ways else ()
        else:
            kept += (stage,)
    return kept


def operations_of(stages: Stages) -> float:
    """A bound of the rounding error of all stages, in units in the last place."""
    total = 0.0
    for stage in stages:
        match stage:
            case EitherStage():
                total += max(operations_of(stage.first), operations_of(stage.second))
            case GaussianStage():
                total += 2.0**18
            case LossStage() | OwnItemsStage():
                total += 1
            case _:
                total += stage.times * (64 + 32 * stage.epsilon)
    return total
