"""How likely an item is found that so many users hold: of each item by itself, if that can be said.

An item that n users hold, each with t items in all, has weight n/sqrt(t) in noise: where one look
at it decides, the chance is that of a normal variable. Where users move weight from item to item,
it hangs on what else they hold: then it is played out on a table that anybody can write down.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from shortlist.draws import Draws, Floats, Ints
from shortlist.evidence.contributions import Contributions

__all__ = ["ByPlay", "ByThreshold", "Detection", "invented"]

_SAMPLES = 1000  # items for each chance, if the table is not too large,
_FEWEST = 200  # and if it is: a chance of 1/2 then has standard error 0.035
_MOST_ROWS = 10_000_000  # of a table that is invented: a second or two


class Detection(ABC):
    """How items are found.

    Attributes:
        around: The weight at which an item is about as likely found as not.
        most: The most items of one user that count; None for any number.
        told: What the chances are, in words.
    """

    around: float
    most: int | None
    told: str

    @abstractmethod
    def chances(self, users: Sequence[int], held: int, draws: Draws) -> Floats | None:
        """The chance of an item that so many users hold, each of them `held` items in all.

        Args:
            users: Numbers of users, each at least 1.
            held: At least 1 and at most `most`.
            draws: What is played with, if anything is.

        Returns:
            One for each number of users; None if that takes too large a table.
        """


@dataclass(frozen=True)
class ByThreshold(Detection):
    """One look: normal noise is added to the weight, and it is found if it reaches the threshold.

    >>> looked = ByThreshold(sigma=4.0, threshold=20.0, most=100)
    >>> looked.chances([20, 40], 1, None), looked.chances([40], 4, None)
    (array([0.5..., 0.9999...]), array([0.5]))
    """

    sigma: float
    threshold: float
    most: int | None
    told: str = "The chances are exact."

    @property
    def around(self) -> float:  # type: ignore[override]
        """The threshold."""
        return self.threshold

    def chances(self, users: Sequence[int], held: int, draws: Draws | None) -> Floats:  # noqa: ARG002 - nothing is drawn
        """As `Detection.chances`."""
        from scipy.special import ndtr

        weights = np.asarray(users, np.float64) / math.sqrt(held)
        chances: Floats = ndtr((weights - self.threshold) / self.sigma)
        return chances


@dataclass(frozen=True)
class ByPlay(Detection):
    """Whatever decides, run on a table in which all who hold an item hold the same items.

    Attributes:
        find: The positions of the items found, in such a table.
    """

    find: Callable[[Contributions, Draws], Ints]
    around: float
    most: int | None
    told: str = (
        f"Each point is the share of {_FEWEST} items or more, on an invented table in which all "
        "who hold an item hold the same items."
    )

    def chances(self, users: Sequence[int], held: int, draws: Draws) -> Floats | None:
        """As `Detection.chances`."""
        groups = min(-(-_SAMPLES // held), _MOST_ROWS // (held * sum(users)))
        if groups * held < _FEWEST:
            return None
        found = np.zeros(groups * held * len(users))
        found[self.find(invented(users, held, groups), draws)] = 1.0
        chances: Floats = found.reshape(len(users), -1).mean(axis=1)
        return chances


def invented(users: Sequence[int], held: int, groups: int) -> Contributions:
    """Groups of users who hold the same items: for each number of users, so many groups.

    Args:
        users: How many users a group has.
        held: How many items each of them holds.
        groups: How many groups there are of each size.

    Returns:
        Items in the order of `users`: of each, first those of its first group.

    >>> invented([1, 3], held=2, groups=1).counts
    array([1, 1, 3, 3])
    """
    sizes = np.repeat(users, groups)  # users of each group
    group = np.repeat(np.arange(len(sizes)), sizes)  # of each user
    rows = np.repeat(np.arange(len(group)), held)
    items = (group[:, None] * held + np.arange(held)).ravel()
    return Contributions.of_rows(
        rows.astype(np.uint32),
        items.astype(np.uint32),
        n_users=len(group),
        n_items=len(sizes) * held,
    )
