"""What a path through a mechanism spends: the losses of its draws, by kind."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Differs", "Spent", "Unfollowed"]


class Differs(Exception):  # noqa: N818 - it says what neighbours do
    """A mechanism asks for another law on the neighbour, which no stage of a cost allows."""


class Unfollowed(Exception):  # noqa: N818 - no error
    """The outcome does not exist on the neighbour, or nothing is known of it."""


@dataclass(frozen=True)
class Spent:
    """The losses of some draws between a table and its neighbour, along the same outcomes.

    Attributes:
        squares: Of all normal noise, the sum of squared shifts over variances.
        ranges: Of each exponential mechanism, the range of the log odds.
        pures: Of each other draw, the largest loss.
        lost: The chance that noise names an item of the user alone.
        picked: The chance that a pick does, the largest of all picks: each of them may end them.
    """

    squares: float = 0.0
    ranges: tuple[float, ...] = ()
    pures: tuple[float, ...] = ()
    lost: float = 0.0
    picked: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.squares + other.squares,
            self.ranges + other.ranges,
            self.pures + other.pures,
            self.lost + other.lost,
            max(self.picked, other.picked),
        )

    def most(self, other: Spent) -> Spent:
        """The larger of both, of one draw of a law."""
        return Spent(
            max(self.squares, other.squares),
            max(self.ranges, other.ranges, key=sum),
            max(self.pures, other.pures, key=sum),
        )

    @property
    def rho(self) -> float:
        """The zCDP of all: that of a range is epsilon²/8, and that of a pure loss epsilon²/2."""
        terms = (
            self.squares / 2,
            *(epsilon**2 / 8 for epsilon in self.ranges),
            *(epsilon**2 / 2 for epsilon in self.pures),
        )
        return math.fsum(terms)

    @property
    def pure(self) -> float:
        """The largest loss of all; infinite where there is normal noise."""
        return math.inf if self.squares else math.fsum((*self.ranges, *self.pures))
