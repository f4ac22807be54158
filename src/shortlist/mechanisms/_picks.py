"""What k picks by the exponential mechanism cost, and the local epsilon that they may have."""

from __future__ import annotations

from shortlist.mechanisms.accounting import Accounting, cost_of_release
from shortlist.privacy import Cost, Pure
from shortlist.privacy.accountant import BoundedRange, Composition, Stage
from shortlist.privacy.accountant.fitting import largest_within
from shortlist.privacy.calibration import (
    WORTH_A_DELTA,
    divide_down,
    peeling_epsilon,
    peeling_epsilon_lemma_b1,
)

__all__ = ["EDGE", "picks_cost", "picks_epsilon"]

EDGE = 1.1
"""A parameter by which the exponential mechanism is as good as exponential noise."""


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


def picks_cost(accounting: Accounting, k: int, local_epsilon: float, epsilon: float) -> Cost:
    """Of k picks, calibrated to an epsilon by `picks_epsilon`."""
    by_rho = Pure.bounded_range(local_epsilon) * k
    return cost_of_release(
        accounting, Composition((BoundedRange(local_epsilon, k),)), by_rho, epsilon
    )
