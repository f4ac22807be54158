"""From rows of users and items to whole sets: coded, each item once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shortlist.engines.tables._dialect import Expression
from shortlist.engines.tables.scratch import Scratch
from shortlist.errors import InputError
from shortlist.evidence.contributions import MOST_USERS

__all__ = ["CODE", "HOLDERS", "PLACE", "SIZE", "USER", "VALUE", "Read", "item_columns", "read"]

USER, CODE, SIZE = "u", "c", "t"
"""Of a table of users' sets: the user and the item, by numbers, and how many items the user has."""

_ITEM = "i"  # and the place of a column among those of an item

PLACE = "place"
"""Of items that are asked for: the place of each among them."""

HOLDERS = "n"
"""How many users hold an item."""

VALUE = "value"
"""What a user's number stands for."""


@dataclass(frozen=True)
class Read:
    """What was read, as temporary tables.

    Attributes:
        pairs: Each user's distinct items: `USER`, `CODE`, `SIZE`.
        users: What the user's number stands for: `USER`, `VALUE`.
        items: The values of each item, and by how many it is held: `CODE`, `columns`, `HOLDERS`.
    """

    pairs: Expression
    users: Expression
    items: Expression

    @property
    def columns(self) -> list[str]:
        """The names of the columns of an item."""
        return [name for name in self.items.columns if name.startswith(_ITEM)]

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
    keys = rows.select(
        **{VALUE: rows[user]}, **dict(zip(names, (rows[i] for i in items), strict=True))
    )
    dialect.require(keys)
    keys = keys.drop_null().select(**{name: dialect.key(keys[name]) for name in keys.columns})
    distinct = scratch.keep(keys.distinct())
    held = distinct.group_by(names).agg(**{HOLDERS: distinct.count()})
    coded = scratch.keep(dialect.numbered(held, CODE))
    sizes = distinct.group_by(VALUE).agg(**{SIZE: distinct.count()})
    users = scratch.keep(dialect.numbered(sizes, USER))
    _require_few(users, scratch)
    pairs = distinct.join(users, VALUE).join(coded, names)
    whole = scratch.keep(
        pairs.select(**{name: pairs[name].cast("int32") for name in (USER, CODE, SIZE)})
    )
    scratch.forget(distinct)
    return Read(whole, users.drop(SIZE), coded)


def _require_few(users: Expression, scratch: Scratch) -> None:
    """Refuse more users than 64 bits can add up the weights of."""
    if scratch.fetch(users.agg(n=users.count()))["n"][0] > MOST_USERS:
        raise InputError("too many users: a table may hold about a billion of them")
