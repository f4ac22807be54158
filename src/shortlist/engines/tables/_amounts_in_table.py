"""What users spent on items, in an engine: in whole steps, added up and clamped where rows lie."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shortlist.draws import Draws, Ints
from shortlist.engines.tables._expressions import (
    AMOUNT,
    CODE,
    HOLDERS,
    SUM,
    VALUE,
    Expression,
    aggregate,
    total,
)
from shortlist.engines.tables._scratch import Scratch
from shortlist.engines.tables._sets_from_rows import keys_of, sets_of
from shortlist.engines.tables._sets_in_table import SetsInTable
from shortlist.errors import InputError, in_quotes, shown
from shortlist.table.amounts import MOST, MOST_OF_A_ROW, NEAR_NOTHING, Amounts

if TYPE_CHECKING:
    from shortlist.engines.tables._dialect import TableInEngine

_ABOVE = "above"
_DIGITS, _SCALE = 15, 22  # a decimal of no more is a quotient of two floats that are exact


def require_alike(table: TableInEngine, amounts: Amounts) -> None:
    """Refuse a column whose amounts may come out there as others than in memory.

    Raises:
        InputError: The engine, or the type of the column, is such. No row is read.
    """
    if not table.dialect.computes_as_memory:
        raise InputError(
            "whether {engine} would round the same way is not known here",
            "add {pull=True}, which fetches the rows",
            given={"amount": in_quotes(amounts.column)},
            engine=table.dialect.name,
        )
    dtype = table.rows[amounts.column].type()
    if dtype.is_decimal() and not (
        (dtype.precision or _DIGITS + 1) <= _DIGITS and (dtype.scale or 0) <= _SCALE
    ):
        raise InputError(
            "{dtype} holds decimals that no float tells apart, and engines round them in ways of "
            "their own",
            "cast it to DOUBLE, or to a decimal of at most 15 digits, in the query that makes the "
            "table; or add {pull=True}",
            given={"amount": in_quotes(amounts.column)},
            dtype=shown(str(dtype)),
        )


def _steps(column: Expression, amounts: Amounts) -> Expression:
    """What `Amounts.steps` is in memory; null where the amount is none.

    What is beyond all that a row can have is told before anything is computed with it: engines fail
    where a float is too large, or too small. Every engine orders NaN as more than infinity, or as
    neither more nor less than any number.
    """
    import ibis

    amount = column.cast("float64")
    size, most = amount.abs(), amounts.cap * (MOST_OF_A_ROW // MOST)
    steps = (amount / _float(amounts.cap) * _float(MOST)).floor().cast("int64")
    nothing, whole = (ibis.literal(n, "int64") for n in (0, MOST_OF_A_ROW))
    is_finite = size <= _float(sys.float_info.max)
    return ibis.cases(
        (size < _float(NEAR_NOTHING), nothing),
        (size <= _float(most), steps),
        (is_finite & (amount > _float(0)), whole),
        (is_finite, -whole),
    )


def _float(value: float) -> Expression:
    import ibis

    return ibis.literal(repr(float(value))).cast("float64")  # DuckDB takes 0.1 for a decimal


@dataclass(frozen=True, eq=False)
class AmountsInTable:
    """Sums of what each user spent on each item, as `UserAmounts`, of which none leaves the engine.

    Attributes:
        sets: Who holds what, of which `counts` are sums over all users.
        spent: The sums, each from 1 to the cap: `VALUE`, the columns of an item, `AMOUNT`.
    """

    sets: SetsInTable
    spent: Expression
    scratch: Scratch

    @classmethod
    def of_rows(
        cls, table: TableInEngine, columns: Sequence[str], amounts: Amounts, scratch: Scratch
    ) -> AmountsInTable:
        """Add up the rows of each user and item; only then is a sum clamped.

        Args:
            table: The rows.
            columns: The column of users, and those of items, or of groups and items.
            amounts: The column of amounts, and the cap.
            scratch: Where temporary tables are made.

        Raises:
            InputError: As `read_sets`.
        """
        user, *items = columns
        steps = {AMOUNT: _steps(table.rows[amounts.column], amounts)}
        rows = keys_of(table.rows, user, items, scratch, **steps)
        keys = [name for name in rows.columns if name != AMOUNT]
        added = rows.group_by(keys).agg(
            **{AMOUNT: aggregate(scratch.dialect.summing, "decimal(38, 0)", rows[AMOUNT])}
        )
        held = added.filter(added[AMOUNT] > 0)
        spent = scratch.fix(held.mutate(**{AMOUNT: _clamped(held[AMOUNT])}))
        sets = sets_of(spent.drop(AMOUNT), scratch)
        sets.numbered.held = _summed(spent, sets.columns, HOLDERS)  # which are not numbered yet
        sets.numbered.are_sums = True
        return cls(SetsInTable(sets, scratch, unit=1 / MOST), spent, scratch)

    def above(self, parts: Sequence[float], whole: int) -> Ints:
        """As `UserAmounts.above`."""
        return above(self.spent, parts, whole, self.scratch)

    def capped(self, part: float) -> AmountsInTable:
        """As `UserAmounts.capped`."""
        spent = capped(self.spent, part)
        sets = replace(self.sets, known=self._by_code(spent))
        return AmountsInTable(sets, spent, self.scratch)

    def sums(self, max_items_per_user: int | None, draws: Draws) -> Ints:
        """As `UserAmounts.sums`."""
        if max_items_per_user is None:
            return self.sets.counts
        kept = self.sets.bounded(max_items_per_user, draws)
        keys = [VALUE, *self.sets.values.columns]
        return self._by_code(self.spent.semi_join(kept.values.sets.select(keys), keys))

    def _by_code(self, spent: Expression) -> Ints:
        """What all users spent on each item."""
        columns = self.sets.values.columns
        items = self.sets.values.items.select(CODE, *columns)
        sums = _summed(spent, columns, SUM)
        return self.sets.fetched(sums.join(items, columns).select(CODE, SUM))


def above(spent: Expression, parts: Sequence[float], whole: int, scratch: Scratch) -> Ints:
    """As `UserAmounts.above`.

    Args:
        spent: The sums of users: `VALUE`, whatever each is of, `AMOUNT`.
        parts: Of the cap.
        whole: How many sums of a user count.
        scratch: Where the numbers are fetched from.
    """
    import ibis

    names = [f"{_ABOVE}{place}" for place in range(len(parts))]
    steps = spent[AMOUNT].cast("float64")
    one, nothing = (ibis.literal(n, "int64") for n in (1, 0))
    is_above = [(steps / _float(part) > _float(MOST)).ifelse(one, nothing) for part in parts]
    users = spent.group_by(VALUE).agg(**dict(zip(names, map(total, is_above), strict=True)))
    counted = {name: ibis.least(users[name], ibis.literal(whole, "int64")) for name in names}
    found = scratch.fetch(
        users.agg(**{name: ibis.coalesce(total(n), 0) for name, n in counted.items()})
    )
    return np.array([int(found[name][0]) for name in names], np.int64)


def capped(spent: Expression, part: float) -> Expression:
    """The sums in steps of a part of the cap, and clamped to it; none becomes 0."""
    steps = (spent[AMOUNT].cast("float64") / _float(part)).floor().cast("int64")
    return spent.mutate(**{AMOUNT: _clamped(steps)})


def _clamped(sums: Expression) -> Expression:
    import ibis

    return ibis.cases((sums > MOST, ibis.literal(MOST, "int64")), else_=sums.cast("int64"))


def _summed(spent: Expression, columns: Sequence[str], name: str) -> Expression:
    return spent.group_by(columns).agg(**{name: total(spent[AMOUNT])})
