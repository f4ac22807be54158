"""How a mechanism's stages are counted, and the parameters that they are left."""

from __future__ import annotations

import math
from collections.abc import Callable

from shortlist.errors import InputError
from shortlist.parameters import Option
from shortlist.privacy import Composed, Cost, Pure
from shortlist.privacy.accountant import (
    BoundedRange,
    Composition,
    GaussianStage,
    Lost,
    NovelItems,
    Stage,
    Threshold,
)
from shortlist.privacy.accountant.solving import largest_parameter, largest_share
from shortlist.privacy.calibration import (
    WORTH_A_DELTA,
    divide_down,
    gaussian_rho,
    peeling_epsilon,
    peeling_epsilon_lemma_b1,
)

__all__ = [
    "SET_APART",
    "Accounting",
    "alone",
    "largest_loss",
    "largest_mu_after",
    "largest_within",
    "noise_on_weights",
    "picks_cost",
    "picks_epsilon",
]


SET_APART = 0.3  # of delta, in a guess by zCDP, where no option says how much
_LEAST_DELTA = 1e-40  # below, a grid is too coarse to be off by less than 0.5 %
_LESS = 0.98  # of a parameter that was too large


class Accounting(Option):
    """How the stages of a mechanism add up to (epsilon, delta)."""

    EXACT = "exact"
    """The worst case of all stages together: the least noise for one release."""

    ZCDP = "zcdp"
    """In zCDP, and a share of delta for the rest: the least noise for one of many releases that
    share a budget, which adds up their rho."""

    PUBLISHED = "published"
    """As in the mechanism's paper, for comparison."""


def picks_epsilon(accounting: Accounting, k: int, *, epsilon: float, delta: float) -> float:
    """The largest local epsilon of k picks by the exponential mechanism.

    Pure where delta is 0, or would allow less than 1 % more.

    >>> [round(picks_epsilon(Accounting.EXACT, k, epsilon=1.0, delta=1e-6), 4) for k in (5, 20)]
    [0.2328, 0.1067]
    """
    if accounting is Accounting.PUBLISHED:
        return peeling_epsilon_lemma_b1(k, epsilon=epsilon, delta=delta)
    by_rho = peeling_epsilon(k, epsilon=epsilon, delta=delta)
    if accounting is Accounting.ZCDP or delta == 0:
        return by_rho

    def stages(local: float) -> tuple[Stage, ...]:
        return (BoundedRange(local, k),)

    local = largest_within(stages, epsilon=epsilon, delta=delta, by_rho=by_rho)
    pure = divide_down(epsilon, k)
    return local if local > WORTH_A_DELTA * pure else pure


def largest_within(
    stages: Callable[[float], tuple[Stage, ...]],
    *,
    epsilon: float,
    delta: float,
    by_rho: float,
    unnamed: Lost | NovelItems | None = None,
) -> float:
    """The largest parameter with which the stages are within (epsilon, delta), or hardly less.

    It is never less than what zCDP allows, and just that where delta is below 1e-40.

    Args:
        stages: Those of a parameter.
        epsilon: Of the guarantee.
        delta: Of the guarantee, above 0.
        by_rho: The largest that zCDP is known to allow.
        unnamed: The items that one user alone may hold, or what is lost.
    """
    if delta < _LEAST_DELTA:
        return by_rho

    def spent(parameter: float, fineness: float) -> float:
        try:
            composition = Composition(stages(parameter), unnamed)
        except InputError:  # so large that nothing is protected
            return 1.0
        return composition.delta(epsilon, fineness=fineness)

    return max(by_rho, largest_parameter(spent, delta=delta, near=by_rho))


def noise_on_weights(rho: float) -> GaussianStage:
    """The stage of normal noise of so much zCDP, or a little more, on users' weights."""
    return GaussianStage(math.sqrt(2 * rho) * (1 + 2.0**-50), on_weights=True)


def largest_loss(
    stages: tuple[Stage, ...],
    thresholds: Callable[[float], tuple[Threshold, ...]],
    bound: int,
    *,
    epsilon: float,
    delta: float,
) -> float:
    """The largest chance to name an item that one user alone holds, within (epsilon, delta).

    Args:
        stages: Of all users; those without such an item are within (epsilon, delta) already.
        thresholds: All that may name an item, of that chance.
        bound: The most items of one user.
        epsilon: Of the guarantee.
        delta: Of the guarantee.
    """

    def holds(lost: float) -> bool:
        unnamed = NovelItems(thresholds(lost), bound)
        return Composition(stages, unnamed).novel_delta(epsilon) <= delta

    return largest_share(holds, delta)


def largest_mu_after(composition: Composition, *, epsilon: float, delta: float) -> float:
    """The largest parameter of a Gaussian that stages leave room for within (epsilon, delta).

    Found for users of whose items others hold each, and then seen to hold for all; 0 if none is
    left.

    Args:
        composition: The stages before.
        epsilon: Of the whole.
        delta: Of the whole.
    """

    def after(mu: float) -> Composition:
        return Composition((*composition.stages, GaussianStage(mu)), composition.unnamed)

    def spent(mu: float, fineness: float) -> float:
        lost = composition.unnamed if isinstance(composition.unnamed, Lost) else None
        return Composition(after(mu).stages, lost).delta(epsilon, fineness=fineness)

    if composition.delta(epsilon) >= delta:
        return 0.0
    mu = largest_parameter(spent, delta=delta, near=gaussian_mu(epsilon, delta))
    while after(mu).delta(epsilon) > delta:
        mu *= _LESS
    return mu


def gaussian_mu(epsilon: float, delta: float) -> float:
    """About the parameter of a Gaussian alone: a guess."""
    return math.sqrt(2 * gaussian_rho(epsilon=epsilon, delta=delta)) / 2


def picks_cost(accounting: Accounting, k: int, local_epsilon: float, epsilon: float) -> Cost:
    """Of k picks, calibrated to an epsilon by `picks_epsilon`."""
    by_rho = Pure.bounded_range(local_epsilon) * k
    return alone(accounting, Composition((BoundedRange(local_epsilon, k),)), by_rho, epsilon)


def alone(accounting: Accounting, composition: Composition, by_rho: Cost, epsilon: float) -> Cost:
    """The cost of stages; with their exact worst case, if they were calibrated by it."""
    pure_enough = isinstance(by_rho, Pure) and by_rho.pure <= epsilon
    if accounting is not Accounting.EXACT or pure_enough:
        return by_rho
    return Composed(composition, by_rho, epsilon=epsilon)
