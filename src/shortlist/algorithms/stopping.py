"""Rounds that stop when enough was found: which items, and how good each seems.

All that is decided here follows from what the rounds released of the items found, in the same way
wherever these stand. Proof note: `docs/proofs/adaptive-top-k.md`, part D.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shortlist.algorithms.rounds import BOOSTS, Heard, Progress, Rounds
from shortlist.draws import Draws, Floats, Ints
from shortlist.evidence import UserSets

__all__ = ["Stopped", "ToTheEnd", "UntilEnough", "UntilMany", "UntilSafe"]

_LEAST_BOOST = 0.3  # that an estimate takes for what an item was worth


class Stopped(NamedTuple):
    """What was found when the rounds stopped.

    Attributes:
        items: Positions, rising.
        estimates: How good each seems: no count.
        first: The noisy weight of each in the first round.
        rounds: How many rounds were heard.
    """

    items: Ints
    estimates: Floats
    first: Floats
    rounds: int


@dataclass(frozen=True)
class UntilEnough(ABC):
    """Rounds that stop early, by what they found.

    Attributes:
        rounds: The rounds.
    """

    rounds: Rounds

    @abstractmethod
    def is_enough(self, heard: int, estimates: Floats) -> bool:
        """Whether to stop after so many rounds, but the last, with these estimates of all found."""

    def found(self, held: UserSets, draws: Draws) -> Stopped:
        """The items found, of users' bounded sets, until these are enough."""
        progress = self.rounds.begin(held)
        estimates = _Estimates(np.zeros(len(progress.items)), np.zeros(len(progress.items)))
        first: Floats = np.zeros(len(progress.items))
        while True:
            part = self.rounds.plan.parts[progress.rounds]
            heard = self.rounds.hear(progress, draws)
            if progress.rounds == 1:
                first = heard.multiples.astype(np.float64) * self.rounds.step
            estimates.add(progress, part, heard)
            found = estimates.of(np.flatnonzero(progress.found)) * self.rounds.step
            n = progress.rounds
            if n == len(self.rounds.plan.parts) or self.is_enough(n, found):
                named = progress.found
                return Stopped(progress.items[named], found, first[named], n)
            self.rounds.steer(progress)


@dataclass(frozen=True)
class UntilSafe(UntilEnough):
    """Rounds that stop early when the k best of what they found are safe.

    Attributes:
        k: How many are wanted.
        margins: By how many standard deviations of the noise so far the k-th best estimate has to
            be above the threshold, after each round but the last.
    """

    k: int
    margins: tuple[float, ...]

    def is_enough(self, heard: int, estimates: Floats) -> bool:
        """Whether the k-th best is so far above the threshold that better ones are found too."""
        if len(estimates) < self.k:
            return False
        plan = self.rounds.plan
        sd = self.rounds.sigma * math.sqrt(plan.whole / sum(plan.parts[:heard]))
        bar = self.rounds.limits.thresholds[heard - 1] + self.margins[heard - 1] * sd
        return bool(np.partition(estimates, -self.k)[-self.k] >= bar)


@dataclass(frozen=True)
class UntilMany(UntilEnough):
    """Rounds that stop early when so many items are found.

    Attributes:
        enough: How many, after each round but the last.
    """

    enough: tuple[int, ...]

    def is_enough(self, heard: int, estimates: Floats) -> bool:
        """Whether there are as many."""
        return len(estimates) >= self.enough[heard - 1]


@dataclass(frozen=True)
class ToTheEnd(UntilEnough):
    """Rounds that are all run."""

    def is_enough(self, heard: int, estimates: Floats) -> bool:  # noqa: ARG002 - whatever was found
        """Never."""
        return False


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
        self.sums[heard.left] += part * worth * heard.multiples
        self.squares[heard.left] += part * worth * worth

    def of(self, places: Ints) -> Floats:
        """In steps."""
        return self.sums[places] / self.squares[places]
