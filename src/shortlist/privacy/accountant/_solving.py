"""From delta to a parameter: the largest that the accountant allows, or hardly less."""

from __future__ import annotations

import math
from collections.abc import Callable

from shortlist.errors import InputError

__all__ = ["largest_parameter", "largest_share"]

_MET = 0.004  # of delta; the result spends at least so much less than all of it
_AIMED = 0.0015  # of delta, that is left where the fine grid is looked at
_COARSE = 0.25  # of the steps of the fine grid, on which most looks are taken
_SETTLED = 1e-2  # in the logarithm of delta, from where a last secant leads close enough
_LOOKS = 60  # at most; far more than are ever needed
_TINY = 1e-305
_NOTHING = math.log(1e-280)
_WHOLE = 1 - 1e-9  # of delta: hardly less than all
_SLOPES = 0.1, 4.0  # of what is spent over the part, that steps are taken by
_CLOSE = 2.0**-40  # relative, of parameters that are taken to be the same
_STEEP = 25.0  # how delta grows with a parameter, as powers, before anything is known of it
_FLATTEST = 0.02  # a slope that is taken for one
_PATIENCE = 3  # looks in which the distance from the level has to be halved


def largest_parameter(
    spent: Callable[[float, float], float],
    *,
    delta: float,
    near: float,
    fineness: float = _COARSE,
) -> float:
    """Nearly the largest x with which no more than delta is spent: all but 0.5 % of it is.

    It was seen to be within. Most looks are on a coarse grid, whose delta is larger by about the
    same factor everywhere.

    Args:
        spent: The delta that each x above 0 leaves, at a fineness of the grid; it grows with x.
        delta: Of the guarantee, above 0.
        near: A guess at x, such as what zCDP allows.
        fineness: Of the grid for most looks; 1 where only part of what is spent depends on x, so
            that the coarse grid's error may be more than what is left.

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
    coarse = _Search(lambda x: log_spent(x, fineness), wanted, near)
    guess = coarse.solve(_SETTLED) if fineness < 1 else near
    # Errors fall with the square of the fineness: what two grids differ by foretells the third.
    if coarse.slope > 0:
        here = log_spent(guess, fineness)
        ahead = min(max(log_spent(guess, fineness / 2) - here, 0.0), 1.0)
        step = wanted - here + ahead * (1 - fineness**2) / 3 - _AIMED
        guess *= math.exp(step / coarse.slope)
    fine = _Search(lambda x: log_spent(x, 1.0), wanted + math.log1p(-_AIMED), guess, coarse.slope)
    fine.solve(_MET - _AIMED, at_most=wanted)
    if fine.good is None:
        raise InputError("too small to be reached", given={"delta": delta})
    return fine.good


def largest_share(spent: Callable[[float], float], *, delta: float, least: float) -> float:
    """Nearly the largest part of delta, for one thing, with which no more than delta is spent.

    It was seen to be within. It is 0 if not even the least part is.

    Args:
        spent: The delta of everything where the thing has such a part; it grows about as the part.
        delta: Of the guarantee, above 0.
        least: The least part of interest.

    >>> round(largest_share(lambda part: part / 2 + 0.75e-6, delta=1e-6, least=1e-7) * 1e6, 3)
    0.496
    """
    good, bad = 0.0, delta
    part, slope, last = _WHOLE * delta, 1.0, None
    for _ in range(_LOOKS):
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


class _Search:
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
        """The x whose value is within the tolerance of the level, and at most `at_most`."""
        allowed = self.level if at_most is None else at_most
        low, high = 0.0, math.inf
        x, last = self.guess, None
        errors: list[float] = []
        for _ in range(_LOOKS):
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
        """By a secant, unless it leads out of what is known to enclose the answer."""
        slope = self.slope if self.slope > _FLATTEST else _STEEP
        step = min(max((self.level - value) / slope, -2.0), 2.0)
        new = x * math.exp(step)
        return new if low < new < high else self._middle(low, high)

    def _middle(self, low: float, high: float) -> float:
        """Between what encloses the answer, or well beyond what is known."""
        if high == math.inf:
            return 4 * low
        return math.sqrt(low) * math.sqrt(high) if low else high / 4
