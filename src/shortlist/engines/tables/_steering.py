"""Users in an engine who weight their items by what earlier rounds released of each.

The arithmetic is that of `kernels.steer`, to the last bit: whole numbers, and floats that are
divided, multiplied and rooted one by one, which IEEE 754 rounds alike everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import Ints
from shortlist.engines.tables._expressions import CODE, SIZE, SUM, USER, Expression, total
from shortlist.engines.tables._scratch import Scratch
from shortlist.evidence.user_sets import Steering

__all__ = ["SteeringInTable"]

_SQUARE_OF_ONE = 2**40
_SQUARE = "square"  # of what an item is worth
_OF_SHORT = 2**50  # what is multiplied by 1 - 1 / this is not rounded up, in three operations


@dataclass
class SteeringInTable(Steering):
    """Users' sets, of which each user's rows lie together: each round groups by user.

    Attributes:
        pairs: The sets, as `SetsRead.pairs`.
        n_items: How many codes there are.
        is_sorted: Whether they lie so already; if not, they do from the first round on.
    """

    pairs: Expression
    scratch: Scratch
    n_items: int
    is_sorted: bool

    def sums(self, boosts: NDArray[np.int16], floors: Ints, caps: Ints) -> Ints:
        if not self.is_sorted:
            self.pairs, self.is_sorted = self.scratch.keep(self.pairs, by=USER), True
        squares = np.where(boosts < 0, -1, boosts.astype(np.int32) ** 2)
        worth = self.scratch.give_each(CODE, {_SQUARE: squares})
        limits = self.scratch.give_each(SIZE, {"floor": floors, "cap": caps})
        with self.scratch.summing():
            rows = self.scratch.fetch(_weighed(self.pairs, worth, limits, self.scratch))
        self.scratch.forget(worth)
        self.scratch.forget(limits)
        sums = np.zeros(self.n_items, np.int64)
        sums[rows[CODE]] = rows[SUM]
        return sums


def _weighed(
    pairs: Expression, squares: Expression, limits: Expression, scratch: Scratch
) -> Expression:
    """What all users add to each item not yet found."""
    import ibis

    looked_up = scratch.dialect.looked_up
    left = looked_up(pairs, squares, CODE)
    left = left.filter(left[_SQUARE] >= 0)
    shares = left.group_by(USER).agg(
        left=left.count(), squares=total(left[_SQUARE]), **{SIZE: left[SIZE].max()}
    )
    shares = looked_up(shares, limits, SIZE)
    squared, floor, cap = (shares[name] for name in ("squares", "floor", "cap"))
    rest = (_SQUARE_OF_ONE - shares["left"] * floor).cast("float64") / squared.nullif(0).cast(
        "float64"
    )
    short = _double(_OF_SHORT - 1) / _double(_OF_SHORT)
    users = shares.select(USER, floor=floor, cap=cap, share=(rest * short).fill_null(_double(0)))
    each = left.join(users, USER)
    more = (each[_SQUARE].cast("float64") * each["share"]).floor()
    square = ibis.least(each["floor"] + more, each["cap"])
    weight = square.cast("float64").sqrt().floor()
    weighed = each.select(CODE, weight=weight)
    return weighed.group_by(CODE).agg(**{SUM: total(weighed["weight"])})


def _double(number: int) -> Expression:
    """A whole number as a float, exactly: what an engine makes of a decimal fraction may be off."""
    import ibis

    return ibis.literal(number, type="int64").cast("float64")
