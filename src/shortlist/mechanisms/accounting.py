"""How a mechanism's stages are counted: the option, and the cost that follows from it."""

from __future__ import annotations

from shortlist.parameters import Option
from shortlist.privacy import Composed, Cost, Pure
from shortlist.privacy.accountant import Composition

__all__ = ["Accounting", "cost_of_release"]


class Accounting(Option):
    """How the stages of a mechanism add up to (epsilon, delta)."""

    EXACT = "exact"
    """The worst case of all stages together: the least noise for one release."""

    ZCDP = "zcdp"
    """In zCDP, and a share of delta for the rest: the least noise for one of many releases that
    share a budget, which adds up their rho."""

    PUBLISHED = "published"
    """As in the mechanism's paper, for comparison."""


def cost_of_release(
    accounting: Accounting, composition: Composition, by_rho: Cost, epsilon: float
) -> Cost:
    """The cost of stages; with their exact worst case, if they were calibrated by it."""
    pure_enough = isinstance(by_rho, Pure) and by_rho.pure <= epsilon
    if accounting is not Accounting.EXACT or pure_enough:
        return by_rho
    return Composed(composition, by_rho, epsilon=epsilon)
