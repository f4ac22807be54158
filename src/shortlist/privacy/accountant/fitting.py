"""From (epsilon, delta) to the parameters of stages: as large as the accountant allows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from shortlist.errors import InputError
from shortlist.privacy._delta_curves import gaussian_delta
from shortlist.privacy.accountant.composition import Composition
from shortlist.privacy.accountant.items_of_one_user import (
    ItemsByThreshold,
    Threshold,
    ThresholdDelta,
)
from shortlist.privacy.accountant.stages import GaussianStage, Stage, rho_of
from shortlist.privacy.calibration import gaussian_rho

_LEAST = 0.1  # of delta, that thresholds are left; with less they are far higher
SET_APART = 0.3  # of delta, for thresholds where what is left to them is less
_MARGIN = 1e-4  # of delta: more than the delta of some users is off, beside that of all users
_LEAST_DELTA = 1e-40  # below, a grid is too coarse to be off by less than 0.5 %
_LESS = 0.98  # of a parameter that was too large
_STEP = 1 + 2.0**-10  # of a parameter, to see what grows with it
_HALVINGS = 4  # of a step that was too large by no more than itself
_TRIES = 200  # then it is hardly worth anything
_MET = 0.004  # of delta; the result spends at least so much less than all of it
_AIMED = 0.0015  # of delta, that is left where the fine grid is looked at
_COARSE = 0.25  # of the steps of the fine grid, on which delta is mostly computed
_SETTLED = 1e-2  # in the logarithm of delta, from where a last secant leads close enough
_MOST_STEPS = 60  # of a search; far more than are ever needed
_TINY = 1e-305
_NOTHING = math.log(1e-280)
_WHOLE = 1 - 1e-9  # of delta: hardly less than all
_SLOPES = 0.1, 4.0  # of what is spent over the part, that steps are taken by
_CLOSE = 2.0**-40  # relative, of parameters that are taken to be the same
_STEEP = 25.0  # how delta grows with a parameter, as powers, before anything is known of it
_FLATTEST = 0.02  # a slope that is taken for one
_PATIENCE = 3  # steps in which the distance from the level has to be halved


def largest_within(
    stages: Callable[[float], tuple[Stage, ...]],
    *,
    epsilon: float,
    delta: float,
    by_rho: float,
    own_items: ThresholdDelta | ItemsByThreshold | None = None,
) -> float:
    """The largest parameter with which the stages are within (epsilon, delta), or hardly less.

    Never less than `by_rho`, the largest parameter that zCDP is known to allow, and just that where
    delta is below 1e-40.
    """
    if delta < _LEAST_DELTA:
        return by_rho

    def spent(parameter: float, fineness: float) -> float:
        try:
            composition = Composition(stages(parameter), own_items)
        except InputError:  # so large that nothing is protected
            return 1.0
        return composition.delta(epsilon, fineness=fineness)

    near, slope = _as_if_normal(stages, by_rho, epsilon=epsilon, delta=delta)
    return max(by_rho, largest_parameter(spent, delta=delta, near=near, slope=slope))


def _as_if_normal(
    stages: Callable[[float], tuple[Stage, ...]], by_rho: float, *, epsilon: float, delta: float
) -> tuple[float, float]:
    """A guess at the parameter, and at how delta grows with it in logarithms (0 for unknown).

    As if all stages were normal noise of as much zCDP: the loss of many stages is nearly normal.
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
    """The stage of normal noise that is rho-zCDP, or hardly more."""
    return GaussianStage(math.sqrt(2 * rho) * (1 + 2.0**-50), on_weights)


def noise_on_weights(rho: float) -> GaussianStage:
    """The stage of normal noise on users' weights that is rho-zCDP, or hardly more."""
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
    """The largest rho of all stages, and the largest delta of the thresholds beside it.

    Users whose items others hold too limit rho, and users who alone hold an item limit the delta of
    the thresholds. Each may use nearly all of delta, and users in between are seen to cost no more.
    That may leave hardly anything to the thresholds: where users who alone hold all their items
    cost nearly as much by the other stages, or where the worst case is known in zCDP alone. Then a
    part of delta is reserved for the thresholds.

    Args:
        stages: The stages for each rho.
        thresholds: All thresholds that may name an item, for each rho and delta of theirs.
        bound: The most items of one user.
        epsilon: Of the guarantee.
        delta: Of the guarantee.
        by_rho: The rho that zCDP is known to allow.

    Raises:
        InputError: Delta is too small.
    """
    for reserved in (0.0, SET_APART * delta):
        own_items = ThresholdDelta(reserved) if reserved else None
        rho = largest_within(
            stages, epsilon=epsilon, delta=delta, by_rho=by_rho, own_items=own_items
        )

        def spent(lost: float, rho: float = rho) -> float:
            """The delta of users who alone hold an item, rounded up a little."""
            own_items = ItemsByThreshold(thresholds(rho, lost), bound)
            return Composition(stages(rho), own_items).own_items_delta(epsilon) * (1 + _MARGIN)

        lost = largest_share(spent, delta=delta, least=_LEAST * delta)
        if lost > 0:
            return rho, lost
    raise InputError("no threshold can be fitted to it", given={"delta": delta})


def largest_after(
    composition: Composition, stage: Callable[[float], Stage], *, epsilon: float, delta: float
) -> float:
    """The largest parameter of one more stage with which all are within (epsilon, delta).

    Returns 0 if the stages leave no room for another one.
    """
    after = lambda parameter: (*composition.stages, stage(parameter))
    return _largest_of_more(composition, after, epsilon=epsilon, delta=delta)


def largest_before(
    composition: Composition, stage: Callable[[float], Stage], *, epsilon: float, delta: float
) -> float:
    """The same of a stage that is run first, so that all others may depend on what it told.

    Their worst case is larger than if it were run last.
    """
    before = lambda parameter: (stage(parameter), *composition.stages)
    return _largest_of_more(composition, before, epsilon=epsilon, delta=delta)


def _largest_of_more(
    composition: Composition,
    more: Callable[[float], tuple[Stage, ...]],
    *,
    epsilon: float,
    delta: float,
) -> float:
    # It is found for users whose items others hold too, and then seen to hold for all users.

    def with_more(parameter: float) -> Composition:
        return replace(composition, stages=more(parameter))

    def spent(parameter: float, fineness: float) -> float:
        lost = composition.own_items if isinstance(composition.own_items, ThresholdDelta) else None
        return replace(with_more(parameter), own_items=lost).delta(epsilon, fineness=fineness)

    if composition.delta(epsilon) >= delta:
        return 0.0
    near = math.sqrt(gaussian_rho(epsilon=epsilon, delta=delta))
    try:
        parameter = largest_parameter(spent, delta=delta, near=near)
    except InputError:  # there is none so small
        return 0.0

    def fits(parameter: float) -> bool:
        return with_more(parameter).delta(epsilon) <= delta

    if fits(parameter):
        return parameter
    for _ in range(_TRIES):
        good, bad = parameter * _LESS, parameter
        if fits(good):
            return largest_between(good, bad, fits, halvings=_HALVINGS)
        parameter = good
    return 0.0


def largest_between(
    good: float, bad: float, fits: Callable[[float], bool], *, halvings: int
) -> float:
    """A parameter that fits, from one that does to one that does not, by so many halvings."""
    for _ in range(halvings):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if fits(middle) else (good, middle)
    return good


def largest_parameter(
    spent: Callable[[float, float], float],
    *,
    delta: float,
    near: float,
    slope: float = 0.0,
    fineness: float = _COARSE,
) -> float:
    """Nearly the largest x with which at most delta is spent: all but 0.5 % of it is.

    That the result spends at most delta was seen on the fine grid. Before, delta is computed on a
    coarse grid, where it is larger by about the same factor everywhere.

    Args:
        spent: The delta that each x above 0 spends, at a fineness of the grid; it grows with x.
        delta: The delta of the guarantee, above 0.
        near: A guess at x, such as the one that zCDP allows.
        slope: A guess at how delta grows with x, in logarithms; 0 for none.
        fineness: The fineness of the coarse grid. It is 1 where only part of delta depends on x:
            the error of a coarse grid may be more than the delta that is left for x.

    Raises:
        InputError: No x is small enough.

    >>> from shortlist.privacy.accountant import BoundedRange, Composition
    >>> def spent(local, fineness):
    ...     return Composition((BoundedRange(local, times=20),)).delta(1.0, fineness=fineness)
    >>> round(largest_parameter(spent, delta=1e-6, near=0.0987), 4)
    0.1067
    """

    def log_spent(x: float, fineness: float) -> float:
        return math.log(max(spent(x, fineness), _TINY))

    wanted = math.log(delta)
    coarse = _SecantSearch(lambda x: log_spent(x, fineness), wanted, near, slope)
    guess = coarse.solve(_SETTLED) if fineness < 1 else near
    # Errors fall with the square of the fineness: what two grids differ by foretells the third.
    if coarse.slope > 0:
        here = log_spent(guess, fineness)
        ahead = min(max(log_spent(guess, fineness / 2) - here, 0.0), 1.0)
        step = wanted - here + ahead * (1 - fineness**2) / 3 - _AIMED
        guess *= math.exp(step / coarse.slope)
    fine = _SecantSearch(
        lambda x: log_spent(x, 1.0), wanted + math.log1p(-_AIMED), guess, coarse.slope
    )
    fine.solve(_MET - _AIMED, at_most=wanted)
    if fine.good is None:
        raise InputError("too small to be reached", given={"delta": delta})
    return fine.good


def largest_share(spent: Callable[[float], float], *, delta: float, least: float) -> float:
    """Nearly the largest part of delta for one purpose with which at most delta is spent in all.

    That the result spends at most delta was seen. It is 0 if even the least part of interest spends
    more. The delta in all, `spent`, grows about as much as the part.

    >>> round(largest_share(lambda part: part / 2 + 0.75e-6, delta=1e-6, least=1e-7) * 1e6, 3)
    0.496
    """
    good, bad = 0.0, delta
    part, slope, last = _WHOLE * delta, 1.0, None
    for _ in range(_MOST_STEPS):
        value = spent(part)
        within = value <= delta
        good, bad = (part, bad) if within else (good, part)
        if (within and value >= (1 - _MET) * delta) or bad - good <= _MET * delta:
            return good
        if bad <= least:
            return 0.0
        if last is not None:
            slope = min(max((value - last[1]) / (part - last[0]), _SLOPES[0]), _SLOPES[1])
        last = part, value
        new = max(part - (value - (1 - _MET / 2) * delta) / slope, least)
        part = new if good < new < bad else (max(good, least) + bad) / 2
    return good


class _SecantSearch:
    """A search for the x where a growing function crosses a level, by secants of logarithms.

    Attributes:
        good: The largest x at which the function was seen to be within what is allowed, if any.
        slope: Of the function over the logarithm of x, as last seen; 0 while nothing is known.
    """

    def __init__(
        self, function: Callable[[float], float], level: float, guess: float, slope: float = 0.0
    ) -> None:
        self.function, self.level, self.guess, self.slope = function, level, guess, slope
        self.good: float | None = None

    def solve(self, tolerance: float, at_most: float | None = None) -> float:
        """Find an x whose value is within the tolerance of the level, and at most `at_most`."""
        allowed = self.level if at_most is None else at_most
        low, high = 0.0, math.inf
        x, last = self.guess, None
        errors: list[float] = []
        for _ in range(_MOST_STEPS):
            value = self.function(x)
            if value <= allowed:
                low = max(low, x)
                self.good = low
            else:
                high = min(high, x)
            near = abs(value - self.level) <= tolerance
            if near and (at_most is None or value <= at_most):
                return x
            if high < math.inf and high - low <= _CLOSE * high:
                return low or x
            if last is not None and last[0] != x and min(value, last[1]) > _NOTHING:
                self.slope = (value - last[1]) / math.log(x / last[0])
            last = x, value
            errors.append(abs(value - self.level))
            is_slow = len(errors) > _PATIENCE and errors[-1] > errors[-1 - _PATIENCE] / 2
            x = self._middle(low, high) if is_slow else self._next(x, value, low, high)
        return low or x

    def _next(self, x: float, value: float, low: float, high: float) -> float:
        """The next x, by a secant unless it leads out of what is known to enclose the answer."""
        slope = self.slope if self.slope > _FLATTEST else _STEEP
        step = min(max((self.level - value) / slope, -2.0), 2.0)
        new = x * math.exp(step)
        return new if low < new < high else self._middle(low, high)

    def _middle(self, low: float, high: float) -> float:
        """An x between those that enclose the answer, or well beyond them where one is missing."""
        if high == math.inf:
            return 4 * low
        return math.sqrt(low) * math.sqrt(high) if low else high / 4
