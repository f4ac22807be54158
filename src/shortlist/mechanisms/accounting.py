"""How a mechanism's stages are counted, and the parameters that they are left."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

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
    "EDGE",
    "SET_APART",
    "Accounting",
    "alone",
    "largest_after",
    "largest_within",
    "noise_and_loss",
    "noise_on_weights",
    "picks_cost",
    "picks_epsilon",
]


EDGE = 1.1  # a parameter by which the exponential mechanism is as good as exponential noise

_LEAST = 0.1  # of delta, that thresholds are left; with less they are far higher
SET_APART = 0.3  # of delta, for thresholds where what is left to them is less
_MARGIN = 1e-4  # of delta: more than two looks at the same users together with others differ by
_LEAST_DELTA = 1e-40  # below, a grid is too coarse to be off by less than 0.5 %
_LESS = 0.98  # of a parameter that was too large
_TRIES = 200  # then it is hardly worth anything


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


def noise_and_loss(
    stages: Callable[[float], tuple[Stage, ...]],
    thresholds: Callable[[float, float], tuple[Threshold, ...]],
    bound: int,
    *,
    epsilon: float,
    delta: float,
    by_rho: float,
) -> tuple[float, float]:
    """The most zCDP of all stages, and the largest chance to name what one user alone holds.

    The zCDP is limited by users whose items others hold too, and the chance by users who alone hold
    an item. Each may use nearly all of delta, and users in between are seen to cost no more. Where
    that leaves hardly any chance, because a user whose items nobody else holds costs nearly as much
    by the other stages, or because the worst case is known in zCDP alone, part of delta is reserved
    for it.

    Args:
        stages: Those that cost so much zCDP together.
        thresholds: All that may name an item, for so much zCDP and such a chance.
        bound: The most items of one user.
        epsilon: Of the guarantee.
        delta: Of the guarantee.
        by_rho: What zCDP is known to allow.

    Raises:
        InputError: Delta is too small.
    """
    for reserved in (0.0, SET_APART * delta):
        unnamed = Lost(reserved) if reserved else None
        rho = largest_within(stages, epsilon=epsilon, delta=delta, by_rho=by_rho, unnamed=unnamed)
        spent = partial(_spent, stages(rho), partial(thresholds, rho), bound, epsilon)
        lost = largest_share(spent, delta=delta, least=_LEAST * delta)
        if lost > 0:
            return rho, lost
    raise InputError("no threshold can be fitted to it", given={"delta": delta})


def _spent(
    stages: tuple[Stage, ...],
    thresholds: Callable[[float], tuple[Threshold, ...]],
    bound: int,
    epsilon: float,
    lost: float,
) -> float:
    """The delta of users who alone hold an item, and a little more."""
    novel = NovelItems(thresholds(lost), bound)
    return Composition(stages, novel).novel_delta(epsilon) * (1 + _MARGIN)


def largest_after(
    composition: Composition, stage: Callable[[float], Stage], *, epsilon: float, delta: float
) -> float:
    """The largest parameter of one stage more that stages leave room for within (epsilon, delta).

    Found for users of whose items others hold each, and then seen to hold for all; 0 if none is
    left.

    Args:
        composition: The stages before.
        stage: The one more, of a parameter.
        epsilon: Of the whole.
        delta: Of the whole.
    """

    def after(parameter: float) -> Composition:
        return Composition((*composition.stages, stage(parameter)), composition.unnamed)

    def spent(parameter: float, fineness: float) -> float:
        lost = composition.unnamed if isinstance(composition.unnamed, Lost) else None
        return Composition(after(parameter).stages, lost).delta(epsilon, fineness=fineness)

    if composition.delta(epsilon) >= delta:
        return 0.0
    near = math.sqrt(gaussian_rho(epsilon=epsilon, delta=delta))
    try:
        parameter = largest_parameter(spent, delta=delta, near=near)
    except InputError:  # there is none so small
        return 0.0
    for _ in range(_TRIES):
        if after(parameter).delta(epsilon) <= delta:
            return parameter
        parameter *= _LESS
    return 0.0


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
