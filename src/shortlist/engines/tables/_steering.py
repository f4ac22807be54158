"""Users in an engine who weight their items by what earlier rounds released of each.

The arithmetic is that of `kernels.steer`, to the last bit: whole numbers, and floats that are
divided, multiplied and rooted one by one, which IEEE 754 rounds alike everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import Ints
from shortlist.engines.tables._expressions import CODE, SIZE, SUM, USER, Expression, total
from shortlist.engines.tables._scratch import Scratch
from shortlist.evidence.user_sets import Steering

__all__ = ["SteeringInTable"]

_SQUARE_OF_ONE = 2**40
_OF_SHORT = 2**50  # what is multiplied by 1 - 1 / this is not rounded up, in three operations


@dataclass
class SteeringInTable(Steering):
    """Users' sets, of which each user's rows lie together: each round groups by user.

    Attributes:
        pairs: The sets, as `SetsRead.pairs`.
        n_items: How many codes there are.
        is_sorted: Whether they lie so already; if not, they do from the first round on.
        found: The items that were found in earlier rounds; None before the first.
    """

    pairs: Expression
    scratch: Scratch
    n_items: int
    is_sorted: bool
    found: NDArray[np.bool_] | None = None

    def sums(self, boosts: NDArray[np.int16], floors: Ints, caps: Ints) -> Ints:
        if self.found is None:
            if not self.is_sorted:
                self.pairs = self.scratch.keep(self.pairs, by=USER)
            self.found = np.zeros(self.n_items, np.bool_)
        self.found |= boosts < 0
        left = np.flatnonzero(~self.found)
        worth: dict[str, NDArray[Any]] = {
            CODE: left.astype(np.int32),
            "boost": boosts[left].astype(np.int64),
        }
        sizes = np.arange(len(floors), dtype=np.int32)
        limits: dict[str, NDArray[Any]] = {SIZE: sizes, "floor": floors, "cap": caps}
        tables = [self.scratch.give(given) for given in (worth, limits)]
        with self.scratch.summing():
            rows = self.scratch.fetch(_weighed(self.pairs, *tables))
        for table in tables:
            self.scratch.forget(table)
        sums = np.zeros(self.n_items, np.int64)
        sums[rows[CODE]] = rows[SUM]
        return sums


def _weighed(pairs: Expression, boosts: Expression, limits: Expression) -> Expression:
    """What all users add to each item not yet found."""
    import ibis

    left = pairs.join(boosts, CODE).select(USER, CODE, SIZE, "boost")
    shares = left.group_by(USER).agg(
        left=left.count(), squares=total(left["boost"] * left["boost"]), **{SIZE: left[SIZE].max()}
    )
    shares = shares.join(limits, SIZE)
    squares, floor, cap = (shares[name] for name in ("squares", "floor", "cap"))
    rest = (_SQUARE_OF_ONE - shares["left"] * floor).cast("float64") / squares.nullif(0).cast(
        "float64"
    )
    short = _double(_OF_SHORT - 1) / _double(_OF_SHORT)
    users = shares.select(USER, floor=floor, cap=cap, share=(rest * short).fill_null(_double(0)))
    each = left.join(users, USER)
    boost = each["boost"]
    more = ((boost * boost).cast("float64") * each["share"]).floor()
    square = ibis.least(each["floor"] + more, each["cap"])
    weight = square.cast("float64").sqrt().floor()
    weighed = each.select(CODE, weight=weight)
    return weighed.group_by(CODE).agg(**{SUM: total(weighed["weight"])})


def _double(number: int) -> Expression:
    """A whole number as a float, exactly: what an engine makes of a decimal fraction may be off."""
    import ibis

    return ibis.literal(number, type="int64").cast("float64")
