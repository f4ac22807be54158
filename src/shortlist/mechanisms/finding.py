"""How likely an item that so many users hold is found, where that follows from the item alone.

An item that n users hold, each with t items in all, has weight n/sqrt(t) in noise: where one noisy
measurement decides, the chance is that of a normal variable. Where users move weight from item to
item, it depends on what else they hold: then it is played out on an invented table.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from shortlist.draws import Draws, Floats, Ints
from shortlist.draws.normal_law import normal_chances
from shortlist.evidence.contributions import Contributions

_ITEMS_PER_CHANCE = 1000
# Where the table would be too large: a chance of 1/2 then has standard error 0.035.
_FEWEST_ITEMS = 200
# It takes a second or two to invent such a table.
_MOST_ROWS = 10_000_000


class Detection(ABC):
    """How items are found.

    Attributes:
        around: The weight at which an item is about as likely found as not.
        most: The most items of one user that count; None for any number.
        caption: How exact the chances are, in words.
    """

    around: float
    most: int | None
    caption: str

    def users_at_half(self, held: int) -> float:
        """About how many users give it a chance of 1/2, if each holds so many items."""
        return self.around * math.sqrt(held)

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
    """Normal noise is added to the weight, and the item is found if that reaches the threshold.

    >>> detection = ByThreshold(sigma=4.0, threshold=20.0, most=100)
    >>> detection.chances([20, 40], 1, None), detection.chances([40], 4, None)
    (array([0.5..., 0.9999...]), array([0.5]))
    """

    sigma: float
    threshold: float
    most: int | None
    caption: str = "The chances are exact."

    @property
    def around(self) -> float:  # type: ignore[override]
        return self.threshold

    def chances(self, users: Sequence[int], held: int, draws: Draws | None) -> Floats:  # noqa: ARG002 - nothing is drawn
        weights = np.asarray(users, np.float64) / math.sqrt(held)
        return normal_chances((weights - self.threshold) / self.sigma)


@dataclass(frozen=True)
class ByPlay(Detection):
    """Whatever decides, run on a table in which all who hold an item hold the same items.

    Attributes:
        find: The positions of the items found, in such a table.
    """

    find: Callable[[Contributions, Draws], Ints]
    around: float
    most: int | None
    caption: str = (
        f"Each point is the share of {_FEWEST_ITEMS} items or more, on an invented table in which "
        "all who hold an item hold the same items."
    )

    def chances(self, users: Sequence[int], held: int, draws: Draws) -> Floats | None:
        groups = min(-(-_ITEMS_PER_CHANCE // held), _MOST_ROWS // (held * sum(users)))
        if groups * held < _FEWEST_ITEMS:
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
    users_of_group = np.repeat(users, groups)
    group_of_user = np.repeat(np.arange(len(users_of_group)), users_of_group)
    rows = np.repeat(np.arange(len(group_of_user)), held)
    items = (group_of_user[:, None] * held + np.arange(held)).ravel()
    return Contributions.of_rows(
        rows.astype(np.uint32),
        items.astype(np.uint32),
        n_users=len(group_of_user),
        n_items=len(users_of_group) * held,
    )
