"""Users in an engine who weight their items by what earlier rounds released of each.

The arithmetic is that of `kernels.steer`, to the last bit: whole numbers, and floats that are
divided, multiplied and rooted one by one, which IEEE 754 rounds alike everywhere.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist import kernels
from shortlist.draws import Ints
from shortlist.engines.tables._expressions import CODE, SIZE, SUM, USER, Expression, total
from shortlist.engines.tables._scratch import Scratch
from shortlist.engines.tables._sets_from_rows import SetsRead
from shortlist.evidence.user_sets import Steering

SQUARE_OF_ONE = 2**40
SQUARE = "square"  # of what an item is worth; or that it is found, or dropped
OF_SHORT = 2**50  # what is multiplied by 1 - 1 / this is not rounded up, in three operations


@dataclass
class SteeringInEngine(Steering):
    """Users' sets in an engine, which is given what items are worth, round by round.

    Attributes:
        held: The sets.
        scratch: Where temporary tables are made.
        n_items: How many codes there are.
    """

    held: SetsRead
    scratch: Scratch
    n_items: int

    def sums(self, boosts: NDArray[np.int16], floors: Ints, caps: Ints) -> Ints:
        scratch = self.scratch
        squares = np.where(boosts < 0, boosts, boosts.astype(np.int32) ** 2)
        worth = scratch.give_each(CODE, {SQUARE: squares})
        limits = scratch.state_each(SIZE, {"floor": floors, "cap": caps})
        with scratch.summing():
            rows = self._added(worth, limits)
        scratch.forget(worth)
        scratch.forget(limits)
        sums = np.zeros(self.n_items, np.int64)
        sums[rows[CODE]] = rows[SUM]
        return sums

    @abstractmethod
    def _added(self, worth: Expression, limits: Expression) -> dict[str, Ints]:
        """What all users add to each item that is left: `CODE` and `SUM`.

        Args:
            worth: `SQUARE` of each item, of its boost; or that it is found or dropped.
            limits: The `floor` and the `cap` of squares, of users of each size.
        """


@dataclass
class SteeringInTable(SteeringInEngine):
    """By rows, which are numbered where there is a later round at all."""

    _pairs: Expression | None = None

    def _added(self, worth: Expression, limits: Expression) -> dict[str, Ints]:
        return self.scratch.fetch(_sums(self._shared(worth, limits)))

    def _shared(self, worth: Expression, limits: Expression) -> Expression:
        """The rows of items that are left, with what each user has to share out."""
        import ibis

        left, look_up = self._left(worth), self.scratch.dialect.looked_up
        is_heard = left[SQUARE] >= 0  # and is not dropped
        squares = is_heard.ifelse(left[SQUARE], 0)
        added = {"left": left.count(), "squares": total(squares)}
        if self.scratch.dialect.shares_by_windows:
            each = ibis.window(group_by=left[USER])
            rows = left.mutate(**{name: value.over(each) for name, value in added.items()})
            rows = rows.filter(rows[SQUARE] >= 0)
            return _shares(look_up(rows, limits, SIZE), CODE, SQUARE)
        users = left.group_by(USER).agg(**added, **{SIZE: left[SIZE].max()})
        shares = _shares(look_up(users, limits, SIZE)).drop(SIZE)
        return left.filter(is_heard).join(shares, USER)

    def _left(self, worth: Expression) -> Expression:
        """The rows of items not yet found, with the squares of what these are worth."""
        if self._pairs is None:
            self._pairs = self.held.pairs
            if not self.held.is_by_user:  # what is found by now is left out for good
                left = self._not_found(worth).select(USER, CODE, SIZE)
                self._pairs = self.scratch.keep(left, by=USER)
        return self._not_found(worth)

    def _not_found(self, worth: Expression) -> Expression:
        assert self._pairs is not None  # noqa: S101 - for the type checker
        pairs = self._pairs.select(USER, CODE, SIZE)
        rows = self.scratch.dialect.looked_up(pairs, worth, CODE)
        return rows.filter(rows[SQUARE] != kernels.FOUND)


def _shares(users: Expression, *more: str) -> Expression:
    """Of each user the floor and the cap of squares, and how much a boost's square is worth."""
    squared, floor = users["squares"], users["floor"]
    rest = (SQUARE_OF_ONE - users["left"] * floor).cast("float64") / squared.nullif(0).cast(
        "float64"
    )
    short = _double(OF_SHORT - 1) / _double(OF_SHORT)
    ends = {name: users[name].cast("float64") for name in ("floor", "cap")}
    share = (rest * short).fill_null(_double(0))
    return users.select(USER, SIZE, *more, **ends, share=share)


def _sums(each: Expression) -> Expression:
    """What all users add to each item."""
    import ibis

    more = (each[SQUARE].cast("float64") * each["share"]).floor()
    square = ibis.least(each["floor"] + more, each["cap"])
    weighed = each.select(CODE, weight=square.sqrt().floor())
    return weighed.group_by(CODE).agg(**{SUM: total(weighed["weight"])})


def _double(number: int) -> Expression:
    """A whole number as a float, exactly: what an engine makes of a decimal fraction may be off."""
    import ibis

    return ibis.literal(number, type="int64").cast("float64")
