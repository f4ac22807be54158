"""Scores of items, of which somebody states how far one user can move them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shortlist.draws import Floats, Ints
from shortlist.evidence.counts_and_weights import PublicCounts
from shortlist.parameters import Direction

_FARTHEST = 2.0**50  # steps from 0, below which quotients of doubles round to the right step


@dataclass(frozen=True)
class PublicScores:
    """A score of each of the items, which everybody knows.

    One user moves every score by at most `sensitivity`, all of them the way that `direction` says.
    Nothing here can check it: it is the word of whoever computed the scores.

    Attributes:
        scores: Shape (n_items,), numbers or infinities.
        sensitivity: Above 0.
        direction: Whether one user moves all scores the same way.
    """

    scores: Floats
    sensitivity: float
    direction: Direction

    def as_counts(self, steps: int) -> PublicCounts:
        """Whole steps, of which one user moves each by at most so many.

        Args:
            steps: How many of them are the sensitivity: a power of 2.
        """
        whole = whole_steps(self.scores, self.sensitivity / steps)
        return PublicCounts(whole, unit=1 / (steps * self.direction.spread))


def whole_steps(scores: Floats, step: float) -> Ints:
    """How many steps fit into each score, rounded down exactly, and at most 2^50 either way.

    Rounding down commutes with moving by whole steps, and so does no rounding to the nearest: with
    that, 0.5 and 1.5 would become 0 and 2. What lies further away stands at the ends, for to refuse
    it would say that it was there.

    The remainder of two doubles is one, and known exactly. Without it a score is a whole number of
    steps, of which the quotient is off by less than a half.

    >>> whole_steps(np.array([-0.1, 0.3, 0.9, np.inf]), 0.3) - np.array([0, 0, 0, 2**50])
    array([-1,  1,  3,  0])
    """
    end = step * _FARTHEST
    return np.floor_divide(np.clip(scores, -end, end), step).astype(np.int64)
