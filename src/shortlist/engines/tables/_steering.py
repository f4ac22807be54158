"""Users in an engine who weight their items by what earlier rounds released of each.

The arithmetic is that of `kernels.steer`, to the last bit: whole numbers, and floats that are
divided, multiplied and rooted one by one, which IEEE 754 rounds alike everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import Ints
from shortlist.engines.tables._arrays import arrayed, listed
from shortlist.engines.tables._expressions import CODE, SIZE, SUM, USER, Expression, total
from shortlist.engines.tables._scratch import Scratch
from shortlist.engines.tables._sets_from_rows import SetsRead
from shortlist.evidence.user_sets import Steering

_SQUARE_OF_ONE = 2**40
_SQUARE = "square"  # of what an item is worth
_OF_SHORT = 2**50  # what is multiplied by 1 - 1 / this is not rounded up, in three operations


@dataclass
class SteeringInTable(Steering):
    """Users' sets, whose rows are numbered where there is a later round at all.

    Attributes:
        held: The sets.
        n_items: How many codes there are.
    """

    held: SetsRead
    scratch: Scratch
    n_items: int

    @cached_property
    def pairs(self) -> Expression:
        """As `SetsRead.pairs`, a user's together; of arrays, those without what was found."""
        pairs = self.held.pairs
        return pairs if self.held.is_by_user else self.scratch.dialect.by_user(pairs, self.scratch)

    def sums(self, boosts: NDArray[np.int16], floors: Ints, caps: Ints) -> Ints:
        scratch = self.scratch
        squares = np.where(boosts < 0, -1, boosts.astype(np.int32) ** 2)
        worth = scratch.give_each(CODE, {_SQUARE: squares})
        limits = scratch.give_each(SIZE, {"floor": floors, "cap": caps})
        with scratch.summing():
            shared = self._shared(worth, limits)
            rows = scratch.fetch(_sums(shared, scratch.dialect.whole_part))
        scratch.forget(worth)
        scratch.forget(limits)
        sums = np.zeros(self.n_items, np.int64)
        sums[rows[CODE]] = rows[SUM]
        return sums

    def _shared(self, worth: Expression, limits: Expression) -> Expression:
        """The rows of items not yet found, with what each user has to share out."""
        looked_up, are_arrays = self.scratch.dialect.looked_up, self.pairs[CODE].type().is_array()
        pairs = self.pairs.select(USER, SIZE, CODE)
        if are_arrays:
            pairs = listed(pairs.order_by([USER, SIZE]))
        left = looked_up(pairs, worth, CODE)
        left = left.filter(left[_SQUARE] >= 0)
        added = {"left": left.count(), "squares": total(left[_SQUARE])}
        if not are_arrays:
            users = left.group_by(USER).agg(**added, **{SIZE: left[SIZE].max()})
            return left.join(_shares(looked_up(users, limits, SIZE)).drop(SIZE), USER)
        # What is found is left out for good, so that later rounds have fewer rows.
        arrays = {CODE: arrayed(left[CODE]), _SQUARE: arrayed(left[_SQUARE])}
        users = left.group_by([USER, SIZE]).agg(**added, **arrays)
        shares = self.scratch.keep(_shares(looked_up(users, limits, SIZE), *arrays))
        self.scratch.forget(self.pairs)
        self.pairs = shares
        return listed(shares)


def _shares(users: Expression, *more: str) -> Expression:
    """Of each user the floor and the cap of squares, and how much a boost's square is worth."""
    squared, floor = users["squares"], users["floor"]
    rest = (_SQUARE_OF_ONE - users["left"] * floor).cast("float64") / squared.nullif(0).cast(
        "float64"
    )
    short = _double(_OF_SHORT - 1) / _double(_OF_SHORT)
    ends = {name: users[name].cast("float64") for name in ("floor", "cap")}
    share = (rest * short).fill_null(_double(0))
    return users.select(USER, SIZE, *more, **ends, share=share)


def _sums(each: Expression, whole_part: Callable[[Expression], Expression]) -> Expression:
    """What all users add to each item."""
    import ibis

    more = whole_part(each[_SQUARE].cast("float64") * each["share"])
    square = ibis.least(each["floor"] + more, each["cap"])
    weighed = each.select(CODE, weight=whole_part(square.sqrt()))
    return weighed.group_by(CODE).agg(**{SUM: total(weighed["weight"])})


def _double(number: int) -> Expression:
    """A whole number as a float, exactly: what an engine makes of a decimal fraction may be off."""
    import ibis

    return ibis.literal(number, type="int64").cast("float64")
