"""Each user's items in each of the user's groups, wherever they lie."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

from shortlist.draws import Draws, Ints
from shortlist.evidence.user_sets import UserSets

__all__ = ["UserGroups"]


class UserGroups(ABC):
    """Sets of items, one for each user in each group, seen as users' sets of one kind or another.

    Attributes:
        groups: The groups that each user is in.
        groups_are_public: Whether everybody knows the groups: then all codes are groups.
    """

    groups: UserSets
    groups_are_public: bool

    @property
    @abstractmethod
    def n_groups(self) -> int:
        """How many codes of groups there are, from 0; nobody may be in some."""

    @property
    @abstractmethod
    def n_items(self) -> int:
        """How many codes of items there are."""

    @abstractmethod
    def bounded(self, max_groups_per_user: int, draws: Draws) -> Self:
        """What users hold in at most so many groups each, a random subset of their own.

        A user's depends on fresh random bits and that user's groups alone. Codes stay the same.
        """

    @abstractmethod
    def within(self, groups: Ints) -> Self:
        """What users hold in these groups alone, which everybody knows: each is told by its place.

        Args:
            groups: The code of each, -1 where nobody is in it; none twice.
        """

    @abstractmethod
    def items(self) -> UserSets:
        """The items that each user holds, in whichever groups; who holds none may be left out."""

    @abstractmethod
    def among(self, groups: Ints, items: Ints) -> UserSets:
        """Users' sets of nothing but these items in these groups, whole.

        Every pair of them has a place, also one that nobody holds: that of the group times the
        number of items, and that of the item.

        Args:
            groups: Codes, none twice.
            items: Codes, none twice.
        """
