"""The private choice of `JointOrPeel`: its chance, exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shortlist.algorithms.slack import SlackWeights
from shortlist.draws import Floats
from shortlist.draws.reals import ULP

if TYPE_CHECKING:
    from flint import arb

__all__ = ["Crowded"]


@dataclass(frozen=True)
class Crowded:
    """P(threshold <= ln W + Laplace noise of scale 1/slope < ceiling), W the sum of the weights.

    Attributes:
        weights: Their sum, times exp(shift), is W.
        slope: Above 0.
        threshold: Any number.
        ceiling: At least that.
    """

    weights: SlackWeights
    slope: float
    threshold: float
    ceiling: float = math.inf

    def __len__(self) -> int:
        return 1

    def approximate(self) -> tuple[Floats, Floats]:
        """Each end's chance moves by at most half as much as its argument."""
        log_sum, error = self.weights.log_sum()
        log_w = log_sum + self.weights.shift
        chance = bound = 0.0
        for sign, end in ((1, self.threshold), (-1, self.ceiling)):
            if end == math.inf:
                continue
            chance += sign * _below((log_w - end) * self.slope)
            rounding = 8 * ULP * (abs(log_sum) + abs(self.weights.shift) + abs(end))
            bound += self.slope * (error + rounding) + 8 * ULP
        return np.array([max(chance, 0.0)]), np.array([bound])

    def ball(self, i: int) -> arb:  # noqa: ARG002 - there is one
        """The chance, from balls of the weights."""
        from flint import arb

        total = sum((self.weights.ball(j) for j in range(len(self.weights))), arb(0))
        log_w = total.log() + arb(self.weights.shift)
        chance = _ball_below((log_w - arb(self.threshold)) * arb(self.slope))
        if self.ceiling == math.inf:
            return chance
        return chance - _ball_below((log_w - arb(self.ceiling)) * arb(self.slope))


def _below(x: float) -> float:
    """P(Laplace noise of scale 1 <= x)."""
    tail = math.exp(-abs(x)) / 2
    return 1 - tail if x > 0 else tail


def _ball_below(x: arb) -> arb:
    """The same; where the sign of x is open, both of its forms."""
    below, above = x.exp() / 2, 1 - (-x).exp() / 2
    if x > 0:
        return above
    return below if x < 0 else below.union(above)
