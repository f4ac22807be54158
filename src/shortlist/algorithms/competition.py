"""How many lists of k items compete with the true top k, and the private choice by that.

JOINT's normaliser, the sum of N(t) exp(-decay t) over all slacks t, is at least 1, since the true
sequence is always counted: it cannot say how far away the others are. What is summed here begins
at the first slack that so many sequences or sets reach, and falls without end as they fall behind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shortlist.algorithms.slack import ListsBySlack, SlackWeights
from shortlist.draws import Floats
from shortlist.draws.reals import ULP
from shortlist.draws.uniform import precision

if TYPE_CHECKING:
    from flint import arb

# The precision to begin with where floats do not decide.
_BITS = 128


@dataclass(frozen=True)
class Competition:
    """The lists of k items, and from which slack on at least exp(floor) compete.

    Attributes:
        every: The lists, with all pieces.
        decay: By which each slack weighs less, above 0.
        floor: A logarithm, above 0; no sum of rational numbers has it, so that no number of
            lists is equal to exp(floor).
    """

    every: ListsBySlack
    decay: float
    floor: float

    @cached_property
    def starts(self) -> int | None:
        """The first slack that at least exp(floor) lists have at most; None if there is none.

        Whether there is one depends on k and the number of items alone.
        """
        if not self._reached(self.every.largest):
            return None
        least, most = -1, 0
        while not self._reached(most):  # far off where gaps are wide: it may be 2^62
            least, most = most, min(2 * most + 1, self.every.largest)
        while most - least > 1:
            middle = (least + most) // 2
            least, most = (least, middle) if self._reached(middle) else (middle, most)
        return most

    @cached_property
    def lists(self) -> ListsBySlack:
        """In pieces up to the slack beyond which all is negligible beside those that compete."""
        return self.every.near(self.decay, self.starts or 0)

    @cached_property
    def weights(self) -> SlackWeights | None:
        """N(t) exp(-decay t) from that slack on; None if there is none.

        There slack is not counted from the best list on, whose lead one user can change.
        """
        if self.starts is None:
            return None
        return SlackWeights(self.lists, self.decay, least=self.starts, origin=self.every.lead)

    def _reached(self, slack: int) -> bool:
        known, error = self.every.log_at_most(slack)
        if abs(known - self.floor) > error:
            return known > self.floor
        return self._reached_exactly(slack)

    def _reached_exactly(self, slack: int) -> bool:
        from flint import arb

        bits = _BITS
        while True:
            with precision(bits):
                ahead = self.every.ball_of_at_most(slack).log() - arb(self.floor)
                if ahead > 0 or ahead < 0:
                    return bool(ahead > 0)
            bits *= 2


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

        log_w = _log_ball(self.weights)
        chance = _ball_below((log_w - arb(self.threshold)) * arb(self.slope))
        if self.ceiling == math.inf:
            return chance
        return chance - _ball_below((log_w - arb(self.ceiling)) * arb(self.slope))


@dataclass(frozen=True)
class CrowdedByOdds:
    """The probability whose odds are exp(slope (ln W - threshold)), W the sum of the weights.

    Attributes:
        weights: Their sum, times exp(shift), is W.
        slope: Above 0.
        threshold: Any number.
    """

    weights: SlackWeights
    slope: float
    threshold: float

    def __len__(self) -> int:
        return 1

    def approximate(self) -> tuple[Floats, Floats]:
        """The chance moves by at most a fourth as much as the logarithm of the odds."""
        log_sum, error = self.weights.log_sum()
        shift, end = self.weights.shift, self.threshold
        rounding = 8 * ULP * (abs(log_sum) + abs(shift) + abs(end))
        x = (log_sum + shift - end) * self.slope
        tail = math.exp(-abs(x))
        chance = (1.0 if x > 0 else tail) / (1 + tail)
        return np.array([chance]), np.array([self.slope * (error + rounding) + 8 * ULP])

    def ball(self, i: int) -> arb:  # noqa: ARG002 - there is one
        """The chance, from balls of the weights."""
        from flint import arb

        return 1 / (1 + (-(_log_ball(self.weights) - arb(self.threshold)) * arb(self.slope)).exp())


def _log_ball(weights: SlackWeights) -> arb:
    """Ln W, as a ball."""
    from flint import arb

    total = sum((weights.ball(j) for j in range(len(weights))), arb(0))
    return total.log() + arb(weights.shift)


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
