"""From rows of users and items in an engine to whole sets, whose items are known by numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import Ints
from shortlist.engines.tables._expressions import (
    CODE,
    HOLDERS,
    PLACE,
    SIZE,
    USER,
    VALUE,
    Expression,
    item_columns,
    listed,
    total,
    united,
)
from shortlist.engines.tables._scratch import Scratch
from shortlist.errors import InputError, Words
from shortlist.table.key_types import DIGITS
from shortlist.table.reading import beyond_dates

if TYPE_CHECKING:
    import polars as pl

    from shortlist.engines.tables._dialect import Dialect

# By the bytes of a float, the bits of the whole numbers that it counts without a gap.
_BITS = {2: 11, 4: 24, 8: 53}
_NO_KEY = 2**62  # more than any of these


@dataclass(eq=False)
class NumberedItems:
    """Items, with how many users hold each.

    Attributes:
        find_held: Finds `held`.
        columns: The names of the columns of an item.
        known: The items with their numbers, where these are known.
        n_known: How many numbers there are, where that is known.
        are_numbers: Whether the one column of an item is its number.
        are_sums: Whether `HOLDERS` are sums of amounts, and not how many users hold an item.
        tell_holders: Whether they have `HOLDERS` once they have numbers, however they get these.
    """

    find_held: Callable[[], Expression]
    columns: Sequence[str]
    scratch: Scratch
    known: Expression | None = None
    n_known: int | None = None
    are_numbers: bool = False
    are_sums: bool = False
    tell_holders: bool = True

    @cached_property
    def held(self) -> Expression:
        """The items, one row each, as a query: `columns`, `HOLDERS`, which may be left out."""
        return self.find_held()

    @property
    def table(self) -> Expression:
        """The items with their numbers, from 0 on: `CODE`, `columns`, `HOLDERS`."""
        self.number()
        return self.known

    def number(self) -> None:
        """Give the items numbers, if they have none."""
        if self.known is None:
            self.known = self.scratch.keep(self.scratch.dialect.numbered(self.held, CODE))

    def at(self, codes: NDArray[np.integer], places: Ints) -> Expression:
        """The items of these numbers, as in `table`, but with their `PLACE` in place of `CODE`."""
        if self.are_numbers:
            return self.scratch.give({self.columns[0]: codes, PLACE: places})
        given = self.scratch.give({CODE: codes.astype(np.int32), PLACE: places})
        return given.join(self.table, CODE).drop(CODE)

    @property
    def is_found(self) -> bool:
        """Whether the items have numbers by now, or must get them with what `held` says."""
        return self.known is not None or self.are_sums

    @property
    def n(self) -> int:
        """How many numbers there are."""
        if self.n_known is None:
            self.n_known = int(self.scratch.fetch(self.table.agg(n=self.table.count()))["n"][0])
        return self.n_known

    def coded(self, items: Expression, place: str) -> Expression:
        """All items of a temporary table with their numbers.

        Where none are known yet they are the places, so that rows are grouped by item only once.

        Args:
            items: All items, one row each: `columns`, `HOLDERS` and more.
            place: A column of it: different whole numbers from 0 on.
        """
        if self.known is None:
            told = [*self.columns, *([HOLDERS] if self.tell_holders else [])]
            self.known = items.select(*told, **{CODE: items[place]})
            return items.mutate(**{CODE: items[place]})
        return items.join(self.known.select(CODE, *self.columns), self.columns)


@dataclass(frozen=True)
class ItemsInEngine:
    """What codes stand for: of the items, only those that are asked for leave the engine.

    Attributes:
        numbered: The items, with a column for each of `types`.
        types: The columns of an item, as they are called and of what type.
    """

    numbered: NumberedItems
    types: Mapping[str, pl.DataType]
    scratch: Scratch

    def take(self, codes: NDArray[np.integer]) -> pl.DataFrame:
        """The values of these codes, in their order."""
        import polars as pl

        asked = self.numbered.at(codes, np.arange(len(codes)))
        found = self.scratch.fetch_rows(asked.select(PLACE, *self._columns))
        named = pl.DataFrame(found).sort(PLACE)
        return named.select(
            pl.col(held).cast(dtype).alias(name)
            for held, (name, dtype) in zip(self._columns, self.types.items(), strict=True)
        )

    def find(self, values: pl.DataFrame) -> Ints:
        """The code of each row of values, all different, and -1 where it has none."""
        import polars as pl

        dialect = self.scratch.dialect
        renamed = values.rename(dict(zip(values.columns, self._columns, strict=True)))
        renamed = renamed.cast({pl.Int128: pl.Decimal(38, 0)})  # Arrow has no such integers
        numbered = renamed.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(PLACE))
        given = self.scratch.give_rows(numbered.to_arrow(compat_level=pl.CompatLevel.oldest()))
        asked = given.select(PLACE, **{name: dialect.key(given[name]) for name in self._columns})
        found = self.scratch.fetch(
            asked.join(self.numbered.table, self._columns).select(PLACE, CODE)
        )
        codes = np.full(values.height, -1, np.int64)
        codes[found[PLACE]] = found[CODE]
        return codes

    @property
    def _columns(self) -> list[str]:
        return list(self.numbered.columns)


@dataclass(frozen=True, eq=False)
class SetsRead:
    """What was read; what is only asked for by some questions is worked out when it is.

    Attributes:
        numbered: The items.
        find_sets: Finds `parts`.
        find_pairs: Finds `pairs`.
        find_users: Finds the users, each with `SIZE`; None where only `sets` tell.
        left_out: The rows that bounding left out, in parts: the `columns` of their items.
        is_by_user: Whether a user's rows lie together in `pairs`.
        is_joined: Whether each query of `sets` joins them anew.
        code: A column of `parts` that is the number of an item, if there is one.
    """

    numbered: NumberedItems
    find_sets: Callable[[], tuple[Expression, ...]]
    find_pairs: Callable[[], Expression]
    find_users: Callable[[], Expression] | None = None
    left_out: tuple[Expression, ...] = ()
    is_by_user: bool = False
    is_joined: bool = False
    code: str | None = None

    @property
    def items(self) -> Expression:
        """The items by their numbers, as `NumberedItems.table`."""
        return self.numbered.table

    @property
    def columns(self) -> list[str]:
        return list(self.numbered.columns)

    @cached_property
    def parts(self) -> tuple[Expression, ...]:
        """The rows of `sets`, in parts: engines plan better what is joined to each of them.

        A part may be of arrays, to be `listed` after what is the same for all rows of a user.
        """
        return self.find_sets()

    @property
    def sets(self) -> Expression:
        """Each user's distinct items by their values: `USER`, `VALUE`, `columns`, `SIZE`.

        For who goes through them once: each query may join them anew.
        """
        return united([listed(part) for part in self.parts])

    @cached_property
    def pairs(self) -> Expression:
        """The sets by numbers, for who goes through them often: `USER`, `CODE`, `SIZE`."""
        return self.find_pairs()

    @property
    def rows_of_size(self) -> Expression:
        """How many rows of `sets` are of users with so many: `SIZE`, `HOLDERS`."""
        if self.find_users is None:
            rows = self.sets
            return rows.group_by(SIZE).agg(**{HOLDERS: rows.count()})
        users = self.find_users()
        return users.group_by(SIZE).agg(**{HOLDERS: total(users[SIZE])})

    def coded(self, sets: Expression) -> Expression:
        """Some of the sets by numbers, as they are in `pairs`."""
        if self.code is not None:
            return sets.select(USER, SIZE, **{CODE: sets[self.code].cast("int32")})[
                [USER, CODE, SIZE]
            ]
        pairs = sets.join(self.items, self.columns)
        return pairs.select(USER, SIZE, **{CODE: pairs[CODE].cast("int32")})[[USER, CODE, SIZE]]


def read_sets(rows: Expression, user: str, items: Sequence[str], scratch: Scratch) -> SetsRead:
    """The sets of all users, without nulls, from one pass over the rows.

    What is read twice was kept before, so that rows which change meanwhile are of no consequence.

    Args:
        rows: A table of users and items, of types that identify them.
        user: Its column of users.
        items: Its columns of items.
        scratch: Where temporary tables are made.

    Raises:
        InputError: The engine takes different keys for equal; or a float identifies nothing.
    """
    return sets_of(keys_of(rows, user, items, scratch), scratch)


def keys_of(
    rows: Expression, user: str, items: Sequence[str], scratch: Scratch, **beside: Expression
) -> Expression:
    """The rows without nulls, by columns of ours, each such that equal values are one key.

    Args:
        rows: As `read_sets`, and so are the others.
        user: Its column of users.
        items: Its columns of items.
        scratch: Where it is asked whether keys are such.
        beside: What each row has besides: columns that are whole numbers.

    Raises:
        InputError: As `read_sets`.
    """
    dialect = scratch.dialect
    columns = dict(zip([VALUE, *item_columns(len(items))], [user, *items], strict=True))
    held = rows.select(**{name: rows[column] for name, column in columns.items()}, **beside)
    keys = held.drop(*beside)
    scratch.asked(lambda: dialect.require(keys))
    require_identified(keys, scratch)
    held = identified(held, dialect).drop_null()
    return held.select(*[dialect.key(held[name]).name(name) for name in columns], *beside)


def sets_of(keys: Expression, scratch: Scratch) -> SetsRead:
    """The sets of all users, from one pass over their keys.

    Raises:
        InputError: An item is a date that Python has not.
    """
    found = scratch.dialect.whole(keys, scratch)
    if any(dtype.is_temporal() for dtype in keys.schema().values()):
        _require_dates(found.numbered.held, found.columns, scratch)
    return found


def _require_dates(held: Expression, names: Sequence[str], scratch: Scratch) -> None:
    """Refuse items that are dates which Python has not."""
    beyond = [_is_beyond(held[name]) for name in names if held[name].type().is_temporal()]
    if beyond:
        found = scratch.fetch(held.agg(n=held.count(where=reduce(or_, beyond))))
        if found["n"][0]:
            raise beyond_dates(Words("rows in {engine}", engine=scratch.dialect.name))


def _is_beyond(column: Expression) -> Expression:
    """Whether Python has no such date or time; of a time zone, by a day less at either end."""
    import ibis

    dtype = column.type()
    if dtype.is_timestamp() and (dtype.scale or 0) > 6:  # the ends fit in no 64 bits of nanoseconds
        column, dtype = column.cast("timestamp"), dtype.copy(scale=None)
    if dtype.is_date():
        return ~column.between(ibis.date(1, 1, 1), ibis.date(9999, 12, 31))
    if dtype.timezone:
        ends = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
    else:
        ends = datetime(1, 1, 1), datetime.max  # noqa: DTZ001, DTZ901 - of no zone
    first, last = (ibis.literal(end, type=dtype) for end in ends)
    return (column < first) | (column > last)


def read_by_joins(distinct: Expression, scratch: Scratch, *, is_by_user: bool) -> SetsRead:
    """The sets of users who are numbered, and joined in.

    Args:
        distinct: Each user's distinct items, a temporary table: `VALUE`, and columns of an item.
        scratch: Where temporary tables are made.
        is_by_user: Whether a user's rows lie together: what is joined to them is then at hand.
    """
    names = distinct.columns[1:]
    held = distinct.group_by(names).agg(**{HOLDERS: distinct.count()})

    @cache
    def find_users() -> Expression:
        sizes = distinct.group_by(VALUE).agg(**{SIZE: distinct.count().cast("int32")})
        return scratch.keep(scratch.dialect.numbered(sizes, USER))

    def find_sets() -> tuple[Expression, ...]:
        sets = distinct.join(find_users(), VALUE)
        return (sets.mutate(**{USER: sets[USER].cast("int32")}),)

    def find_pairs() -> Expression:
        return scratch.keep(whole.coded(whole.sets))

    numbered = NumberedItems(lambda: held, names, scratch)
    whole = SetsRead(
        numbered, find_sets, find_pairs, find_users, is_by_user=is_by_user, is_joined=True
    )
    return whole


def identified(rows: Expression, dialect: Dialect, numbers: Collection[str] = ()) -> Expression:
    """The rows with all columns as keys, texts, integers, dates or datetimes, but for some numbers.

    Raises:
        InputError: The engine has no words for it; found without reading a row.
    """
    return rows.select(
        **{
            name: rows[name].cast("float64") if name in numbers else _key(rows[name], dialect)
            for name in rows.columns
        }
    )


def require_identified(rows: Expression, scratch: Scratch) -> None:
    """Refuse rows in which a float identifies nothing.

    A row that comes later is no longer looked at: all such floats are one key then.
    """
    floats = [name for name, dtype in rows.schema().items() if dtype.is_floating()]
    keys = identified(rows.select(floats), scratch.dialect) if floats else None
    if keys is None:
        return
    found = scratch.fetch(keys.agg([keys.count(where=keys[n] == _NO_KEY).name(n) for n in floats]))
    if any(found[name][0] for name in floats):
        raise InputError(
            "a number in a column of users, items or groups identifies nothing: it has a fraction, "
            "is NaN, or is too large",
            "cast the column to integers or text. The row is private and not shown",
        )


def _key(column: Expression, dialect: Dialect) -> Expression:
    import ibis

    dtype = column.type()
    if dtype.is_boolean():
        return ibis.cases((column, "true"), (~column, "false"))
    if dtype.is_uuid():
        return column.cast("string")
    if dtype.is_binary():
        return dialect.digits(column)
    if dtype.is_decimal() and dtype.precision is not None and dtype.precision <= DIGITS:
        return column.cast("int64")
    return _whole(column, 2 ** _BITS[dtype.nbytes]) if dtype.is_floating() else column


def _whole(column: Expression, most: int) -> Expression:
    """A float as an integer, or `_NO_KEY` where it identifies nothing."""
    import ibis

    # No engine has an integer for what is too large, so that must not reach a cast. Engines order
    # NaN above all numbers. A null is in neither case, and stays one.
    size = column.abs()
    near = ibis.cases((size <= most, column), (size > most, 0.5))
    whole = ibis.cases((near == near.floor(), near), (near != near.floor(), float(_NO_KEY)))
    return whole.cast("int64")
