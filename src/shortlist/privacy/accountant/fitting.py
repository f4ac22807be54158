"""From (epsilon, delta) to the parameters of stages: each as large as the accountant allows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from shortlist.errors import InputError
from shortlist.privacy._curves import gaussian_delta
from shortlist.privacy.accountant._solving import largest_parameter, largest_share
from shortlist.privacy.accountant._sums import rho_of
from shortlist.privacy.accountant.composition import Composition
from shortlist.privacy.accountant.novel import Lost, NovelItems, Threshold
from shortlist.privacy.accountant.stages import GaussianStage, Stage
from shortlist.privacy.calibration import gaussian_rho

__all__ = [
    "SET_APART",
    "largest_after",
    "largest_within",
    "noise_and_loss",
    "noise_on_weights",
    "normal_noise",
]

_LEAST = 0.1  # of delta, that thresholds are left; with less they are far higher
SET_APART = 0.3  # of delta, for thresholds where what is left to them is less
_MARGIN = 1e-4  # of delta: more than two looks at the same users together with others differ by
_LEAST_DELTA = 1e-40  # below, a grid is too coarse to be off by less than 0.5 %
_LESS = 0.98  # of a parameter that was too large
_STEP = 1 + 2.0**-10  # of a parameter, to see what grows with it
_HALVINGS = 4  # of a step that was too large by no more than itself
_TRIES = 200  # then it is hardly worth anything


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

    near, slope = _as_if_normal(stages, by_rho, epsilon=epsilon, delta=delta)
    return max(by_rho, largest_parameter(spent, delta=delta, near=near, slope=slope))


def _as_if_normal(
    stages: Callable[[float], tuple[Stage, ...]], by_rho: float, *, epsilon: float, delta: float
) -> tuple[float, float]:
    """A guess at the parameter, and at how delta grows with it: of normal noise of as much zCDP.

    The loss of many stages is nearly normal. Growth is in logarithms; 0 where nothing is known.
    """
    rho, more = (float(rho_of(stages(by_rho * factor))) for factor in (1.0, _STEP))
    wanted = gaussian_rho(epsilon=epsilon, delta=delta)
    less = gaussian_delta(wanted / _STEP, epsilon)
    if not (0 < rho < more and less > 0):
        return by_rho, 0.0
    power = math.log(more / rho) / math.log(_STEP)
    growth = math.log(gaussian_delta(wanted, epsilon) / less) / math.log(_STEP)
    return by_rho * (wanted / rho) ** (1 / power), growth * power


def normal_noise(rho: float, *, on_weights: bool = False) -> GaussianStage:
    """The stage of normal noise of so much zCDP, or a little more."""
    return GaussianStage(math.sqrt(2 * rho) * (1 + 2.0**-50), on_weights)


def noise_on_weights(rho: float) -> GaussianStage:
    """The same on users' weights."""
    return normal_noise(rho, on_weights=True)


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
        return replace(composition, stages=(*composition.stages, stage(parameter)))

    def spent(parameter: float, fineness: float) -> float:
        lost = composition.unnamed if isinstance(composition.unnamed, Lost) else None
        return replace(after(parameter), unnamed=lost).delta(epsilon, fineness=fineness)

    if composition.delta(epsilon) >= delta:
        return 0.0
    near = math.sqrt(gaussian_rho(epsilon=epsilon, delta=delta))
    try:
        parameter = largest_parameter(spent, delta=delta, near=near)
    except InputError:  # there is none so small
        return 0.0

    def fits(parameter: float) -> bool:
        return after(parameter).delta(epsilon) <= delta

    if fits(parameter):
        return parameter
    for _ in range(_TRIES):
        good, bad = parameter * _LESS, parameter
        if fits(good):
            return _between(fits, good, bad)
        parameter = good
    return 0.0


def _between(fits: Callable[[float], bool], good: float, bad: float) -> float:
    """The largest of some parameters that was seen to fit."""
    for _ in range(_HALVINGS):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if fits(middle) else (good, middle)
    return good
