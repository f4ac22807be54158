"""What each user spent on each item of each group: added up, and clamped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shortlist import kernels
from shortlist.draws import Draws, Ints
from shortlist.evidence.buckets import Codes
from shortlist.evidence.contributions import Contributions, places_of
from shortlist.evidence.grouped_sets import GroupedSets
from shortlist.evidence.user_amounts import added_up, capped, summed, summed_in_turn
from shortlist.evidence.user_sets import InOneGroup, PairSets, UserGroups


@dataclass(frozen=True)
class GroupedAmounts(UserGroups):
    """Sums of what each user spent on each item in each group, in steps, from 1 to a cap.

    Whoever has a sum of 0 or less for an item in a group is taken not to hold it there. The cap is
    one of each group: who is in two has a sum in each.

    Attributes:
        spent: Whose sums are in which group: what is held there are places in `amounts`, each once.
        items_of: The code of the item of each sum, shape (n_sums,).
        amounts: The sums, likewise.
        n_codes: How many codes of items there are.
        unit: As of `PublicCounts`.
        listed: As in `UserGroups`.
    """

    spent: GroupedSets
    items_of: Codes
    amounts: Ints
    n_codes: int
    unit: float
    listed: Ints | None = None

    @classmethod
    def of_rows(
        cls,
        users: NDArray[np.integer],
        groups: NDArray[np.integer],
        items: NDArray[np.integer],
        steps: Ints,
        *,
        n_groups: int,
        n_items: int,
        most: int,
    ) -> GroupedAmounts:
        """Add up the rows of each user, group and item; only then is a sum clamped.

        Args:
            users: As of `UserAmounts.of_rows`, and so are the others.
            groups: Codes of groups.
            items: Codes of items.
            steps: What each row has.
            n_groups: How many codes of groups there are.
            n_items: How many codes of items there are.
            most: The cap, in steps: a power of 2.
        """
        held = summed({"user": users, "group": groups, "item": items}, steps, most)
        of_users, of_groups = held["user"].to_numpy(), held["group"].to_numpy()
        new_user = _differs(of_users)
        begins = np.flatnonzero(new_user | _differs(of_groups))
        places = np.arange(held.height, dtype=np.uint32)
        parts = Contributions(begins, _sizes(begins, held.height), places, held.height)
        starts = np.flatnonzero(new_user[begins])
        in_groups = Contributions(
            starts, _sizes(starts, len(begins)), of_groups[begins].astype(np.uint32), n_groups
        )
        return cls(
            GroupedSets(in_groups, parts),
            held["item"].to_numpy().astype(np.uint32),
            held["amount"].to_numpy(),
            n_items,
            1 / most,
        )

    @property
    def groups(self) -> Contributions:  # type: ignore[override]  # nobody writes to it
        return self.spent.groups

    @property
    def groups_are_public(self) -> bool:  # type: ignore[override]  # nobody writes to it
        return self.spent.groups_are_public

    @property
    def public(self) -> Ints:  # type: ignore[override]  # nobody writes to it
        return np.empty(0, np.int64)

    @property
    def n_groups(self) -> int:
        return self.spent.n_groups

    @property
    def n_items(self) -> int:
        return self.n_codes

    def with_public(self, codes: Ints) -> GroupedAmounts:
        raise NotImplementedError("nobody knows private items beforehand where amounts rank them.")

    def bounded(self, max_groups_per_user: int, draws: Draws) -> GroupedAmounts:
        return replace(self, spent=self.spent.bounded(max_groups_per_user, draws))

    def within(self, groups: Ints) -> GroupedAmounts:
        return replace(self, spent=self.spent.within(groups))

    def above(self, parts: Sequence[float], whole: int) -> Ints:
        """As `UserAmounts.above`: of one user, sums in all groups."""
        most, groups, held = np.rint(1 / self.unit), self.groups, self.spent.parts

        def of_users(amounts: Ints, part: float) -> Ints:
            in_groups = summed_in_turn(amounts / part > most, held.starts, held.sizes)
            return summed_in_turn(in_groups, groups.starts, groups.sizes)

        amounts = self.amounts[held.items]
        each = (np.minimum(of_users(amounts, part), whole).sum() for part in parts)
        return np.array(list(each), np.int64)

    def capped(self, part: float) -> GroupedAmounts:
        """As `UserAmounts.capped`."""
        return replace(self, amounts=capped(self.amounts, part, round(1 / self.unit)))

    def each(self) -> Iterator[InOneGroup]:
        for places in self.spent.in_each():
            items, amounts = self.items_of[places.items], self.amounts[places.items]
            held = self._summed(places, items, amounts)
            yield InOneGroup(held if self.listed is None else held.among(self.listed))

    def _summed(self, sets: Contributions, items: Codes, amounts: Ints) -> Contributions:
        """Some sets of items, with the sums of all users as their counts."""
        known = added_up(items, amounts, self.n_items)
        return replace(sets, items=items, n_items=self.n_items, known=known, unit=self.unit)

    def items(self) -> Contributions:
        return self._holders.items()

    def pairs(self) -> PairSets:
        return self._holders.pairs()

    def among(self, groups: Ints, items: Ints) -> Contributions:
        """As `UserGroups.among`; their counts are sums."""
        parts, held = self.spent.parts, self._holders
        of_group = places_of(groups, self.n_groups)[np.repeat(self.groups.items, parts.sizes)]
        of_item = places_of(items, self.n_items)[self.items_of[parts.listed()]]
        asked = (of_group != kernels.NOWHERE) & (of_item != kernels.NOWHERE)
        places = of_group[asked].astype(np.int64) * len(items) + of_item[asked]
        sums = added_up(places, self.amounts[parts.listed()][asked], len(groups) * len(items))
        return replace(held.among(groups, items), known=sums, unit=self.unit)

    @property
    def _holders(self) -> GroupedSets:
        """Who holds what, whatever was spent on it."""
        parts = replace(self.spent.parts, items=self.items_of, n_items=self.n_items)
        return replace(self.spent, parts=parts)


def _differs(column: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Whether each entry is another than the one before; the first one is."""
    return np.append(np.ones(min(len(column), 1), np.bool_), column[1:] != column[:-1])


def _sizes(starts: Ints, end: int) -> Ints:
    return np.diff(np.append(starts, end))
