"""From rows of users and items to whole sets: coded, each item once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, reduce

from shortlist.engines.tables._dialect import Expression
from shortlist.engines.tables._functions import total
from shortlist.engines.tables.scratch import Scratch
from shortlist.errors import InputError
from shortlist.evidence.buckets import MOST_USERS

__all__ = [
    "CODE",
    "HOLDERS",
    "PLACE",
    "SIZE",
    "SUM",
    "USER",
    "VALUE",
    "Read",
    "item_columns",
    "read",
    "read_by_joins",
    "require_few",
    "united",
]

USER, CODE, SIZE = "u", "c", "t"
"""Of a table of users' sets: the user, the item by its number, and how many items the user has."""

_ITEM = "i"  # and the place of a column among those of an item

PLACE = "place"
"""Of items that are asked for: the place of each among them."""

HOLDERS = "n"
"""How many users hold an item."""

SUM = "sum"
"""What users add to an item."""

VALUE = "value"
"""What a user's number stands for."""


@dataclass(frozen=True, eq=False)
class Read:
    """What was read; what is only asked for by some questions is worked out when it is.

    Attributes:
        items: The values of each item, and by how many it is held: `CODE`, `columns`, `HOLDERS`.
        find_sets: Finds `parts`.
        find_pairs: Finds `pairs`.
        find_users: Finds the users, each with `SIZE`; None where only `sets` tell.
    """

    items: Expression
    find_sets: Callable[[], tuple[Expression, ...]]
    find_pairs: Callable[[], Expression]
    find_users: Callable[[], Expression] | None = None

    @property
    def columns(self) -> list[str]:
        """The names of the columns of an item."""
        return [name for name in self.items.columns if name.startswith(_ITEM)]

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


def item_columns(n: int) -> list[str]:
    """The names of the columns of an item."""
    return [f"{_ITEM}{place}" for place in range(n)]


def read(rows: Expression, user: str, items: Sequence[str], scratch: Scratch) -> Read:
    """The sets of all users, without nulls, from one pass over the rows.

    What is read twice was kept before, so that rows which change meanwhile are of no consequence.

    Args:
        rows: A table of users and items, of types that identify them.
        user: Its column of users.
        items: Its columns of items.
        scratch: Where temporary tables are made.

    Raises:
        InputError: The engine takes different keys for equal; there are too many users, which may
            show only once their sets are looked at.
    """
    dialect, names = scratch.dialect, item_columns(len(items))
    columns = dict(zip([VALUE, *names], [user, *items], strict=True))
    keys = rows.select(**{name: rows[column] for name, column in columns.items()})
    scratch.asked(lambda: dialect.require(keys))
    keys = keys.drop_null()
    return dialect.whole(
        keys.select(**{name: dialect.key(keys[name]) for name in columns}), scratch
    )


def read_by_joins(keys: Expression, scratch: Scratch) -> Read:
    """As `Dialect.whole`: distinct rows, whose users and items are numbered, and joined in."""
    numbered, names = scratch.dialect.numbered, keys.columns[1:]
    distinct = scratch.keep(keys.distinct())
    held = distinct.group_by(names).agg(**{HOLDERS: distinct.count()})
    items = scratch.keep(numbered(held, CODE))

    @cache
    def find_users() -> Expression:
        sizes = distinct.group_by(VALUE).agg(**{SIZE: distinct.count().cast("int32")})
        users = scratch.keep(numbered(sizes, USER))
        require_few(scratch.fetch(users.agg(n=users.count()))["n"][0])
        return users

    def find_sets() -> tuple[Expression, ...]:
        sets = distinct.join(find_users(), VALUE)
        return (sets.mutate(**{USER: sets[USER].cast("int32")}),)

    def find_pairs() -> Expression:
        return scratch.keep(whole.coded(whole.sets))

    whole = Read(items, find_sets, find_pairs, find_users)
    return whole


def require_few(n_users: int) -> None:
    """Refuse more users than 64 bits can add up the weights of."""
    if n_users > MOST_USERS:
        raise InputError("too many users: a table may hold about a billion of them")
