"""Users' items in groups: each user's distinct pairs of a group and an item."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shortlist.draws import Draws, Ints
from shortlist.evidence.buckets import Codes
from shortlist.evidence.contributions import Contributions

__all__ = ["GroupedSets"]


@dataclass(frozen=True)
class GroupedSets:
    """Sets of pairs of a group and an item, one set per user.

    Attributes:
        pairs: Each user's pairs, by their codes.
        group_of: The group code of each pair, 0 .. n_groups - 1, shape (n_pairs,).
        item_of: The item code of each pair, 0 .. n_items - 1, shape (n_pairs,).
        n_groups: How many codes of groups there are; nobody may be in some.
        n_items: How many codes of items there are.
        groups_are_public: Whether everybody knows the groups: then all codes are groups.
    """

    pairs: Contributions
    group_of: Codes
    item_of: Codes
    n_groups: int
    n_items: int
    groups_are_public: bool = False

    def bounded(self, max_groups_per_user: int, draws: Draws) -> GroupedSets:
        """What users hold in at most so many groups each, a uniformly random subset of their own.

        The subsets are independent between users. No other user's rows play a part in one's.
        """
        if self.groups.largest <= max_groups_per_user:
            return self
        kept = self.groups.bounded(max_groups_per_user, draws)
        return replace(self, pairs=self.pairs.within(self.group_of, kept))

    @cached_property
    def groups(self) -> Contributions:
        """The groups that each user is in."""
        return self.pairs.mapped(self.group_of, self.n_groups)

    def items(self) -> Contributions:
        """The items that each user holds, in whichever groups."""
        return self.pairs.mapped(self.item_of, self.n_items)

    def among(self, groups: Ints, items: Ints) -> Contributions:
        """Users' sets of nothing but these items in these groups, whole.

        Every pair of them has a place, also one that nobody holds: that of the group times the
        number of items, and that of the item.

        Args:
            groups: Codes, none twice.
            items: Codes, none twice.
        """
        lines, columns = _places(groups, self.n_groups), _places(items, self.n_items)
        return self.pairs.placed(self.group_of, self.item_of, lines, columns, len(items))


def _places(codes: Ints, n: int) -> Ints:
    """Where each of n codes stands among some; -1 where it does not."""
    places = np.full(n, -1, np.int64)
    places[codes] = np.arange(len(codes))
    return places
