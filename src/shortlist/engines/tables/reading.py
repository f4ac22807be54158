"""From rows of users and items to whole sets: coded, each item once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shortlist.engines.tables._dialect import Expression
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


@dataclass(frozen=True)
class Read:
    """What was read, as temporary tables.

    Attributes:
        pairs: Each user's distinct items: `USER`, `CODE`, `SIZE`.
        items: The values of each item, and by how many it is held: `CODE`, `columns`, `HOLDERS`.
        users: What stands for each user in `pairs`: `USER`, `VALUE`; None if that is the value.
    """

    pairs: Expression
    items: Expression
    users: Expression | None = None

    @property
    def columns(self) -> list[str]:
        """The names of the columns of an item."""
        return [name for name in self.items.columns if name.startswith(_ITEM)]

    def with_values(self, pairs: Expression) -> Expression:
        """Some of the pairs, with the values of their users and items."""
        named = pairs.join(self.items, CODE)
        if self.users is None:
            return named.mutate(**{VALUE: named[USER]})
        return named.join(self.users, USER)

    def among(self, places: Expression) -> Read:
        """The same of nothing but these items, under new codes.

        Args:
            places: The `CODE` of each, and its `PLACE`, which becomes its code.
        """
        held = self.items.join(places, CODE).drop(CODE)
        return replace(self, items=held.rename({CODE: PLACE}))


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
        InputError: There are too many users, or the engine takes different keys for equal.
    """
    dialect, names = scratch.dialect, item_columns(len(items))
    columns = dict(zip([VALUE, *names], [user, *items], strict=True))
    keys = rows.select(**{name: rows[column] for name, column in columns.items()})
    dialect.require(keys)
    keys = keys.drop_null()
    return dialect.whole(
        keys.select(**{name: dialect.key(keys[name]) for name in columns}), scratch
    )


def read_by_joins(keys: Expression, scratch: Scratch) -> Read:
    """As `Dialect.whole`: distinct rows, of which users and items are numbered, and joined in."""
    numbered, names = scratch.dialect.numbered, keys.columns[1:]
    distinct = scratch.keep(keys.distinct())
    items = scratch.keep(
        numbered(distinct.group_by(names).agg(**{HOLDERS: distinct.count()}), CODE)
    )
    users = scratch.keep(numbered(distinct.group_by(VALUE).agg(**{SIZE: distinct.count()}), USER))
    require_few(scratch.fetch(users.agg(n=users.count()))["n"][0])
    pairs = distinct.join(users, VALUE).join(items, names)
    numbers = {name: pairs[name].cast("int32") for name in (USER, CODE, SIZE)}
    whole = scratch.keep(pairs.select(**numbers))
    scratch.forget(distinct)
    return Read(whole, items, users.drop(SIZE))


def require_few(n_users: int) -> None:
    """Refuse more users than 64 bits can add up the weights of."""
    if n_users > MOST_USERS:
        raise InputError("too many users: a table may hold about a billion of them")
