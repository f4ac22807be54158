"""Limited domain with the noise that was published for it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from shortlist.mechanisms import LimitedDomain
from shortlist.parameters import Whole
from shortlist.privacy import Approximate

__all__ = ["PublishedLimitedDomain"]


@dataclass(frozen=True, kw_only=True)
class PublishedLimitedDomain(LimitedDomain):
    """`LimitedDomain` as the paper ran it: half of delta for the bar, half for k picks.

    Picks of local epsilon x cost at most k x, or k x²/2 + x sqrt(k ln(1/delta') / 2). (A third
    bound, k x tanh(x/2) + x sqrt(2 k ln(1/delta')), is never the least for a delta' below 0.9.)

    Source: Durfee & Rogers (2019), Theorem 1.
    """

    second_try: Whole | None = None

    @cached_property
    def threshold_delta(self) -> float:
        """Half of delta."""
        return self.delta / 2

    @cached_property
    def local_epsilon(self) -> float:
        """The largest that one of the bounds allows."""
        spread = math.sqrt(self.k * math.log(1 / self.threshold_delta) / 2)
        composed = 2 * self.epsilon / (math.sqrt(spread**2 + 2 * self.k * self.epsilon) + spread)
        return max(self.epsilon / self.k, composed)

    @property
    def cost(self) -> Approximate:
        """All of both."""
        return Approximate(self.epsilon, self.delta)
