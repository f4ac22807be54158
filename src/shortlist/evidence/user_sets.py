"""Each user's distinct items, in groups or not, wherever they lie: what a mechanism may ask."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import UNIT, Draws, Ints
from shortlist.evidence.counts_and_weights import PrivateCounts, PublicCounts, WeightedHistogram
from shortlist.evidence.wants import Wants


class UserSets(ABC):
    """Sets of items, one per user, of which sums over all users can be had.

    No user is ever seen: `Contributions` has the rows as well, for what goes through the users one
    by one.

    Attributes:
        n_items: How many item codes there are, from 0; some may be held by nobody.
        counts: How many users hold each item, without bounding, shape (n_items,). Or sums of what
            they spent on it, in steps.
        unit: As of `PublicCounts`: one user raises a count by 1 / unit at most.
        max_items_per_user: The bound that `bounded` enforced, or None.
        public: Codes of the items that everybody knows, whether anybody holds them or not, rising;
            of private items, shape (0,) where none is known.
    """

    n_items: int
    counts: Ints
    unit: float = 1.0
    max_items_per_user: int | None
    public: Ints = np.empty(0, np.int64)

    @abstractmethod
    def with_public(self, codes: Ints) -> Self:
        """The same, where everybody knows the items of these codes; nobody holds those beyond."""

    @abstractmethod
    def bounded(self, max_items_per_user: int, draws: Draws) -> Self:
        """A random subset of at most `max_items_per_user` items of each user.

        Each user's depends on fresh random bits and that user's items alone. `counts` stay those of
        all items.
        """

    @abstractmethod
    def among(self, codes: Ints) -> UserSets:
        """The same users' sets, of nothing but these items; who holds none may be left out.

        Args:
            codes: The item code of each, which is its place from now on, or -1 where nobody holds
                it; shape (n,), no code twice.
        """

    @abstractmethod
    def users_of_size(self) -> Ints:
        """How many users hold so many items, shape (`largest` + 1,): from 0 items on.

        Users who hold nothing may be left out.
        """

    @abstractmethod
    def added_by_size(self, weights: Ints) -> Ints:
        """The sum of what users add to each item, where it depends on how many they hold.

        Args:
            weights: What a user adds to each item held, by their number, shape (`largest` + 1,).
        """

    def renumbered(self) -> tuple[UserSets, Ints | None]:
        """The same sets under codes that are summed up faster, and what each of these was.

        Those that nobody holds may be left out, if they are not public. None where codes stay the
        same.
        """
        return self, None

    @abstractmethod
    def steering(self) -> Steering:
        """The same users, who weight their items anew from round to round."""

    @abstractmethod
    def unreached(self, domain: Ints) -> Unreached:
        """All users, of whom none is reached yet; the domain are item codes, none twice."""

    @property
    def largest(self) -> int:
        """How many items the user holds who holds most."""
        return len(self.users_of_size()) - 1

    def count(self) -> PublicCounts:
        """How many users hold each item."""
        return PublicCounts(self.counts)

    def recount(self) -> PrivateCounts:
        """How many users hold each item, after `bounded`."""
        ones = np.ones(self.largest + 1, np.int64)
        return PrivateCounts(self.added_by_size(ones), self.max_items_per_user)

    def weigh(self, show_from: int | None = None) -> WeightedHistogram:  # noqa: ARG002 - here all are shown
        """Each user adds `unit_weight(number of items)` to every item held, after `bounded`.

        Args:
            show_from: As `Wants.show_from`. The positions of items not shown are their codes
                too.
        """
        if self.max_items_per_user is None:
            raise ValueError("weigh() needs bounded sets: call bounded() first.")
        weights = self.added_by_size(self.unit_weights())
        return WeightedHistogram(weights, self.counts, self.max_items_per_user)

    def unit_weights(self) -> Ints:
        """What a user adds to each item held, by their number: 0 where nobody holds so many."""
        users = self.users_of_size()
        weights = np.zeros(len(users), np.int64)
        for size in np.flatnonzero(users).tolist():
            weights[size] = unit_weight(size) if size else 0
        return weights

    def shown_as(self, wants: Wants) -> Any:
        """As what a mechanism of private items looks at: sets, counts or weights.

        The sets are bounded as is wanted.
        """
        if issubclass(wants.kind, UserSets):
            return self
        if wants.kind is PrivateCounts:
            return self.recount()
        return self.weigh(wants.show_from)


class Steering(ABC):
    """Users who weight the items that are left to them."""

    @abstractmethod
    def sums(self, boosts: NDArray[np.int16], floors: Ints, caps: Ints) -> Ints:
        """What all users add to each item in a round, shape (n_items,): see `kernels.steer`.

        Args:
            boosts: What an item is worth, from 0 to 2^11; or that it is `kernels.FOUND` or
                `kernels.DROPPED`, for good. Shape (n_items,).
            floors: The least square of a weight, by how many items the user held at first, in
                multiples of 2^-40; shape (`largest` + 1,).
            caps: The largest square of a weight, likewise.
        """


class Unreached(ABC):
    """The users not reached so far, by the items of a domain that they hold.

    Attributes:
        counts: How many users not reached hold each item of the domain, shape (n,); it changes with
            every `reach`.
    """

    counts: Ints

    @abstractmethod
    def reach(self, place: int) -> None:
        """All who hold the item at this place of the domain."""

    @abstractmethod
    def leave_out(self, place: int) -> None:
        """The item at this place, all of whose holders are reached: no group has it any more."""

    @abstractmethod
    def groups(self) -> tuple[Ints, Ints]:
        """The distinct counts of the items not left out, falling, and how many have each."""

    @abstractmethod
    def in_order(self) -> tuple[Ints, Ints]:
        """The places of the items not left out, by falling count, and these counts."""

    @abstractmethod
    def members(self, count: int) -> Ints:
        """The places of the items not left out that have this count, in no order that matters."""


def unit_weight(size: int) -> int:
    """The largest w with size · w² <= 1, in units of `UNIT`: a user's ℓ2 norm never exceeds 1.

    >>> [unit_weight(size) * UNIT for size in (1, 4, 100)]
    [1.0, 0.5, 0.09999999986030161]
    """
    return math.isqrt(round(UNIT**-2) // size)


class PairSets(NamedTuple):
    """Users' sets of pairs of a group and an item.

    Attributes:
        sets: The sets, of codes of pairs; nobody may hold some.
        positions: Of codes, where a pair stands: the code of its group times the number of items,
            and the code of its item.
    """

    sets: UserSets
    positions: Callable[[Ints], Ints]


class InOneGroup(NamedTuple):
    """What users hold in one group.

    Attributes:
        sets: Their sets.
        codes: What the codes of items are in all groups; None where they are the same.
    """

    sets: UserSets
    codes: Ints | None = None


class UserGroups(ABC):
    """Sets of items, one for each user in each group, seen as users' sets of one kind or another.

    Attributes:
        groups: The groups that each user is in.
        groups_are_public: Whether everybody knows the groups: then all codes are groups.
        public: Codes of the items that everybody knows, in whichever groups; as in `UserSets`.
        listed: Codes of the items that alone are shown by `each`, where everybody knows these;
            -1 for one that nobody holds. None where all are.
    """

    groups: UserSets
    groups_are_public: bool
    public: Ints
    listed: Ints | None

    @property
    @abstractmethod
    def n_groups(self) -> int:
        """How many codes of groups there are, from 0; nobody may be in some."""

    @property
    @abstractmethod
    def n_items(self) -> int:
        """How many codes of items there are."""

    @abstractmethod
    def with_public(self, codes: Ints) -> Self:
        """The same, where everybody knows the items of these codes; nobody holds those beyond."""

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

    @property
    def n_in_each(self) -> int:
        """How many codes of items `each` tells."""
        return self.n_items if self.listed is None else len(self.listed)

    @abstractmethod
    def each(self) -> Iterator[InOneGroup]:
        """What users hold in each group, one after another; listed items are told by their places.

        Who holds nothing there may be left out.
        """

    @abstractmethod
    def items(self) -> UserSets:
        """The items that each user holds, in whichever groups; who holds none may be left out."""

    @abstractmethod
    def pairs(self) -> PairSets:
        """The pairs of a group and an item that each user holds."""

    @abstractmethod
    def among(self, groups: Ints, items: Ints) -> UserSets:
        """Users' sets of nothing but these items in these groups, whole.

        Every pair of them has a place, also one that nobody holds: that of the group times the
        number of items, and that of the item.

        Args:
            groups: Codes, none twice.
            items: Codes, none twice.
        """
