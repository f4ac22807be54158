"""Parts of a budget: the epsilon and delta of a question that may take so much, and no more.

Proof note: `docs/proofs/budget.md`, on shares.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from shortlist.budget._balance import cut
from shortlist.budget._units import Amount, Unit
from shortlist.errors import InputError
from shortlist.privacy import round_down

Price = Callable[[float, float], Amount]
"""What a question costs that is asked with this epsilon and this delta."""

_DIGITS = 6
_CLOSE = 1e-8  # relative: so much of a part may stay unused, before epsilon is rounded
_CLOSE_DELTA = 1e-6
_HAIR = 1 - 2.0**-40
_USUAL_K = 20
_ALIKE = 0.02  # shares of what is there that are rounded to be the same


def fitted(unit: Unit, part: Amount, delta: float, price: Price) -> tuple[float, float]:
    """The largest epsilon and delta, in six digits, with which a question costs at most a part.

    Of the delta in zCDP only a share is charged, which each mechanism chooses for itself: so the
    prices of several are looked at. Whatever is returned was seen to cost at most the part.

    Args:
        unit: In which the part and prices are counted.
        part: The most that it may cost.
        delta: The delta of a total, of which the part is one.
        price: Refuses an epsilon and a delta with which the question cannot be asked.

    Raises:
        InputError: The question cannot be asked with so little.
    """
    try:
        exact = fitted_exactly(unit, part, delta, price)
    except InputError as refused:
        if refused.argument != "epsilon":  # which nobody gave
            raise
        raise _too_little() from None
    rounded = cut(exact[0], _DIGITS), cut(exact[1], _DIGITS)
    return rounded if price(*rounded).within(part) else exact


def fitted_exactly(unit: Unit, part: Amount, delta: float, price: Price) -> tuple[float, float]:
    if not part.delta:
        return _without_delta(unit, part, price)
    try:
        return _with_delta(unit, part, delta, price)
    except InputError as refused:  # perhaps there is no use for a delta
        try:
            return _without_delta(unit, part, price)
        except InputError:
            raise refused from None


def _without_delta(unit: Unit, part: Amount, price: Price) -> tuple[float, float]:
    near = unit.asked(part, 0.0)
    return _largest(lambda epsilon: price(epsilon, 0.0).first, part.first, near), 0.0


def _with_delta(unit: Unit, part: Amount, most: float, price: Price) -> tuple[float, float]:
    delta = most if unit.name == "zcdp" else round_down(part.delta)
    epsilon, found = unit.asked(part, delta), None
    for _ in range(8):  # two are mostly enough: the share of delta hardly hangs on epsilon
        delta = _charged_delta(partial(price, epsilon), part, delta, most)
        epsilon = _largest(lambda e, d=delta: price(e, d).first, part.first, epsilon)  # type: ignore[misc]
        cost = price(epsilon, delta)
        if cost.within(part):
            found = epsilon, delta
            if delta == most or not cost.delta or cost.delta >= part.delta * (1 - _CLOSE_DELTA):
                break
    if found is None:
        raise _too_little()
    return found


def _charged_delta(
    price: Callable[[float], Amount], part: Amount, delta: float, most: float
) -> float:
    """The largest delta, up to the most, of which no more than the part has is charged."""
    for _ in range(60):
        charged = price(delta).delta
        enough = delta == most or charged >= part.delta * (1 - _CLOSE_DELTA)
        if charged <= part.delta and (enough or not charged):
            return delta
        delta = min(most, delta * float(part.delta / charged) * _HAIR)
    raise _too_little()


def _largest(cost: Callable[[float], Fraction], most: Fraction, near: float) -> float:
    """About the largest epsilon that costs at most so much; it was seen to do so."""
    good, bad, epsilon = 0.0, math.inf, near
    for _ in range(200):
        spent = cost(epsilon)
        if spent <= most:
            good = epsilon
            if spent >= most * (1 - Fraction(_CLOSE)):
                return good
        else:
            bad = epsilon
        if good and bad < math.inf and bad - good <= bad * _CLOSE / 1000:  # the cost jumps there
            return good
        # Costs grow about as the square of a small epsilon.
        epsilon *= math.sqrt(float(most / spent)) * (1 - _CLOSE / 4)
        if not good < epsilon < bad:
            epsilon = (good + bad) / 2 if bad < math.inf else 2 * good
    if not good:
        raise _too_little()
    return good


def _too_little() -> InputError:
    return InputError("this question cannot be asked with so little", "give it a larger {share}")
