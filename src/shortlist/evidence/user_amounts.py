"""What each user spent on each item: added up, and clamped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import Draws, Ints
from shortlist.evidence.contributions import Contributions

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class AmountsAtCaps:
    """Sums of what users spent, of which each counts up to a cap that is to be chosen.

    Who holds an item is the same at all caps.

    Attributes:
        above: How many sums of a user are above each cap, at most so many, added up over all users.
        at: What a mechanism looks at where a cap was chosen, by its place.
    """

    above: Callable[[int], Ints]
    at: Callable[[int], Any]


@dataclass(frozen=True)
class UserAmounts:
    """Sums of what each user spent on each item, in steps, from 1 to a cap.

    Whoever has a sum of 0 or less for an item is taken not to hold it.

    Attributes:
        sets: Who holds what; their `counts` are sums over all users.
        amounts: What is spent on each item of the sets, shape (n_pairs,).
    """

    sets: Contributions
    amounts: Ints

    @classmethod
    def of_rows(
        cls,
        users: NDArray[np.integer],
        items: NDArray[np.integer],
        steps: Ints,
        *,
        n_items: int,
        most: int,
    ) -> UserAmounts:
        """Add up the rows of each user and item; only then is a sum clamped.

        Args:
            users: The code, or any number, of the user of each row.
            items: Codes of items.
            steps: What each row has, below 0 or above the cap as it may be.
            n_items: How many codes of items there are.
            most: The cap, in steps: a power of 2.
        """
        held = summed({"user": users, "item": items}, steps, most)
        sizes = held["user"].rle().struct.field("len").to_numpy().astype(np.int64)
        of_pairs = held["item"].to_numpy().astype(np.uint32)
        amounts = held["amount"].to_numpy()
        sets = Contributions(
            np.cumsum(sizes) - sizes,
            sizes,
            of_pairs,
            n_items,
            known=added_up(of_pairs, amounts, n_items),
            unit=1 / most,
        )
        return cls(sets, amounts)

    def above(self, parts: Sequence[float], whole: int) -> Ints:
        """How many sums of a user are above parts of the cap, shape (n_parts,): over all users.

        Of one user at most `whole` count.
        """
        most, sets = np.rint(1 / self.sets.unit), self.sets
        is_above = (self.amounts / part > most for part in parts)
        each = (summed_in_turn(those, sets.starts, sets.sizes) for those in is_above)
        return np.array([np.minimum(one, whole).sum() for one in each], np.int64)

    def capped(self, part: float) -> UserAmounts:
        """The same, where a part of the cap is the cap: in steps of it, and clamped.

        No sum is 0 then, so that everybody holds what was held.
        """
        amounts = capped(self.amounts, part, round(1 / self.sets.unit))
        known = added_up(self.sets.items, amounts, self.sets.n_items)
        return UserAmounts(replace(self.sets, known=known), amounts)

    def sums(self, max_items_per_user: int | None, draws: Draws) -> Ints:
        """What all users spent on each item, shape (n_items,): of a random subset of each one's.

        All items of a user count where that is None.
        """
        if max_items_per_user is None:
            return self.sets.counts
        n = len(self.amounts)
        pairs = replace(self.sets, items=np.arange(n, dtype=np.uint32), n_items=n, known=None)
        kept = pairs.bounded(max_items_per_user, draws).listed()
        return added_up(self.sets.items[kept], self.amounts[kept], self.sets.n_items)


def summed(keys: Mapping[str, NDArray[np.integer]], steps: Ints, most: int) -> pl.DataFrame:
    """The rows of equal keys added up, and then clamped, in the order of the keys: `amount`.

    What is 0 or less is left out.
    """
    import polars as pl

    rows = pl.LazyFrame({**keys, "amount": steps})
    sums = rows.group_by(*keys).agg(pl.col("amount").sum().clip(upper_bound=most))
    return sums.filter(pl.col("amount") > 0).sort(*keys).collect()


def capped(amounts: Ints, part: float, most: int) -> Ints:
    """Sums in steps of a part of the cap, and clamped to it."""
    return np.minimum(np.floor(amounts / part).astype(np.int64), most)


def summed_in_turn(values: NDArray[Any], starts: Ints, sizes: Ints) -> Ints:
    """The sum of so many values from each start on."""
    before = np.append(0, np.cumsum(values, dtype=np.int64))
    sums: Ints = before[starts + sizes] - before[starts]
    return sums


def added_up(items: NDArray[np.integer], amounts: Ints, n_items: int) -> Ints:
    """The sum of each item. It is exact: 2^30 users of 2^20 steps each fit 64 bits."""
    sums = np.zeros(n_items, np.int64)
    np.add.at(sums, items, amounts)
    return sums
