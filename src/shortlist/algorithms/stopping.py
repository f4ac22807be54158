"""Rounds that stop when enough was found for certain: which items, and how good each seems.

All that is decided here follows from what the rounds released of the items found, in the same way
wherever these stand. Proof note: `docs/proofs/adaptive-top-k.md`, part D.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shortlist.algorithms.rounds import BOOSTS, Heard, Progress, Rounds
from shortlist.draws import Draws, Floats, Ints
from shortlist.evidence.contributions import Contributions

__all__ = ["Stopped", "StoppingRounds"]

_LEAST_BOOST = 0.3  # that an estimate takes for what an item was worth


class Stopped(NamedTuple):
    """What was found when the rounds stopped.

    Attributes:
        items: Positions, rising.
        estimates: How good each seems: no count.
        rounds: How many rounds were heard.
    """

    items: Ints
    estimates: Floats
    rounds: int


@dataclass(frozen=True)
class StoppingRounds:
    """Rounds that stop early when the k best of what they found are safe.

    Attributes:
        rounds: The rounds.
        k: How many are wanted.
        margins: By how many standard deviations of the noise so far the k-th best estimate has to
            be above the threshold, after each round but the last.
    """

    rounds: Rounds
    k: int
    margins: tuple[float, ...]

    def found(self, held: Contributions, draws: Draws) -> Stopped:
        """The items found, of users' bounded sets, until the k best are safe."""
        progress = self.rounds.begin(held)
        estimates = _Estimates(np.zeros(len(progress.items)), np.zeros(len(progress.items)))
        while True:
            part = self.rounds.plan.parts[progress.rounds]
            estimates.add(progress, part, self.rounds.hear(progress, draws))
            found = estimates.of(np.flatnonzero(progress.found)) * self.rounds.step
            if progress.rounds == len(self.rounds.plan.parts) or self._is_safe(progress, found):
                return Stopped(progress.items[progress.found], found, progress.rounds)
            self.rounds.steer(progress)

    def _is_safe(self, progress: Progress, estimates: Floats) -> bool:
        """Whether the k-th best is so far above the threshold that better ones are found too."""
        if len(estimates) < self.k:
            return False
        r, plan = progress.rounds - 1, self.rounds.plan
        sd = self.rounds.sigma * math.sqrt(plan.whole / sum(plan.parts[: progress.rounds]))
        bar = self.rounds.limits.thresholds[r] + self.margins[r] * sd
        return bool(np.partition(estimates, -self.k)[-self.k] >= bar)


class _Estimates(NamedTuple):
    """Of each item, its noisy sums over what it was worth, until it was found: least squares.

    Attributes:
        sums: Of the sums times the boosts, by precision, shape (n,).
        squares: Of the boosts' squares, by precision, shape (n,).
    """

    sums: Floats
    squares: Floats

    def add(self, progress: Progress, part: int, heard: Heard) -> None:
        """One round more."""
        worth = np.maximum(progress.boosts[heard.left] / BOOSTS, _LEAST_BOOST)
        self.sums[heard.left] += part * worth * heard.rungs
        self.squares[heard.left] += part * worth * worth

    def of(self, places: Ints) -> Floats:
        """In steps."""
        return self.sums[places] / self.squares[places]
