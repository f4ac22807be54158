"""From rows of users and items to whole sets: coded, each item once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property, reduce
from operator import or_

from shortlist.engines.tables._dialect import Expression
from shortlist.engines.tables._functions import total
from shortlist.engines.tables._identifying import identified, require_identified
from shortlist.engines.tables._names import CODE, HOLDERS, SIZE, USER, VALUE, item_columns
from shortlist.engines.tables._numbered import Numbered
from shortlist.engines.tables.scratch import Scratch
from shortlist.errors import Words
from shortlist.table.reading import beyond_dates

__all__ = ["Read", "read", "read_by_joins", "united"]


@dataclass(frozen=True, eq=False)
class Read:
    """What was read; what is only asked for by some questions is worked out when it is.

    Attributes:
        numbered: The items.
        find_sets: Finds `parts`.
        find_pairs: Finds `pairs`.
        find_users: Finds the users, each with `SIZE`; None where only `sets` tell.
        left_out: The rows that bounding left out, in parts: the `columns` of their items.
        is_by_user: Whether a user's rows lie together in `pairs`.
    """

    numbered: Numbered
    find_sets: Callable[[], tuple[Expression, ...]]
    find_pairs: Callable[[], Expression]
    find_users: Callable[[], Expression] | None = None
    left_out: tuple[Expression, ...] = ()
    is_by_user: bool = False

    @property
    def items(self) -> Expression:
        """The items by their numbers, and by how many they are held, as `Numbered.table`."""
        return self.numbered.table

    @property
    def columns(self) -> list[str]:
        """The names of the columns of an item."""
        return list(self.numbered.columns)

    @cached_property
    def parts(self) -> tuple[Expression, ...]:
        """The rows of `sets`, in parts: engines plan better what is joined to each of them."""
        return self.find_sets()

    @property
    def sets(self) -> Expression:
        """Each user's distinct items by their values: `USER`, `VALUE`, `columns`, `SIZE`.

        For who goes through them once: each query may join them anew.
        """
        return united(self.parts)

    @cached_property
    def pairs(self) -> Expression:
        """The same by numbers, for who goes through them often: `USER`, `CODE`, `SIZE`."""
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
        pairs = sets.join(self.items, self.columns)
        return pairs.select(USER, SIZE, **{CODE: pairs[CODE].cast("int32")})[[USER, CODE, SIZE]]


def united(parts: Sequence[Expression]) -> Expression:
    """The rows of all tables, which have the same columns in any order."""
    first, *others = parts
    return reduce(lambda rows, part: rows.union(part.select(first.columns)), others, first)


def read(rows: Expression, user: str, items: Sequence[str], scratch: Scratch) -> Read:
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
    dialect, names = scratch.dialect, item_columns(len(items))
    columns = dict(zip([VALUE, *names], [user, *items], strict=True))
    keys = rows.select(**{name: rows[column] for name, column in columns.items()})
    scratch.asked(lambda: dialect.require(keys))
    require_identified(keys, scratch)
    keys = identified(keys, dialect).drop_null()
    found = dialect.whole(
        keys.select(**{name: dialect.key(keys[name]) for name in columns}), scratch
    )
    _require_dates(found.numbered.held, names, scratch)
    return found


def _require_dates(held: Expression, names: Sequence[str], scratch: Scratch) -> None:
    """As `table.reading.require_dates`, of the items that are held."""
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


def read_by_joins(distinct: Expression, scratch: Scratch, *, is_by_user: bool) -> Read:
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

    numbered = Numbered(held, names, scratch)
    whole = Read(numbered, find_sets, find_pairs, find_users, is_by_user=is_by_user)
    return whole
