"""Later rounds in PostgreSQL, of users whose items that are left are kept as arrays.

The arithmetic is that of `_steering.py`, to the last bit.
"""
# ruff: noqa: S608 - names of ours alone

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shortlist import kernels
from shortlist.draws import Ints
from shortlist.engines.tables._expressions import CODE, SIZE, SUM, USER, Expression, listed
from shortlist.engines.tables._steering import (
    OF_SHORT,
    SQUARE,
    SQUARE_OF_ONE,
    SteeringInEngine,
)

if TYPE_CHECKING:
    from shortlist.engines.tables._postgres import Postgres

_DROPPED, _SHARE = "dropped", "share"
_LEFT = {CODE: "array<int32>", SIZE: "int32", _DROPPED: "int32", _SHARE: "float64"}
_SUMS = {CODE: "int32", SUM: "int64"}


@dataclass
class SteeringInArrays(SteeringInEngine):
    """By users' items that are neither found nor dropped, in a table that each round makes anew.

    So what is found or dropped is looked at no more, and a user's items lie together.

    Attributes:
        dialect: How the engine is spoken to.
    """

    dialect: Postgres
    _left: Expression | None = None

    def _added(self, worth: Expression, limits: Expression) -> dict[str, Ints]:
        arrays = _WordsOfArrays(worth.get_name(), limits.get_name())
        before, self._left = self._left, self._still_left(arrays, worth)
        added = self.dialect.made(arrays.added(self._left.get_name()), _SUMS, self.scratch)
        rows = self.scratch.fetch(added)
        for table in (added, *([] if before is None else [before])):
            self.scratch.forget(table)
        return rows

    def _still_left(self, arrays: _WordsOfArrays, worth: Expression) -> Expression:
        """Each user's items that are left, with the user's share."""
        if self._left is not None:
            words = arrays.narrowed(self._left.get_name())
        else:
            rows = [self.dialect.sql(part) for part in self._not_found(worth)]
            words = " UNION ALL ".join(map(arrays.gathered, rows))
        return self.dialect.made(words, _LEFT, self.scratch)

    def _not_found(self, worth: Expression) -> list[Expression]:
        """The rows of items not found, each with what its item is worth; a user's in one part."""
        held, left = self.held, worth.filter(worth[SQUARE] != kernels.FOUND)
        parts = [listed(part) for part in held.parts]
        if held.code is not None:
            joined = [held.coded(part).join(left, CODE) for part in parts]
        else:  # by what items are called, of which fewer are left
            items = held.items.select(CODE, *held.columns).join(left, CODE)
            joined = [part.join(items, held.columns) for part in parts]
        return [rows.select(USER, CODE, SIZE, SQUARE) for rows in joined]


class _WordsOfArrays:
    """What is said of users' items, as arrays: what is the same for all rows is looked up in one.

    Each is made in a subquery with an OFFSET, which PostgreSQL works out once and not in each place
    where it is named.
    """

    def __init__(self, worth: str, limits: str) -> None:
        self._squares = _array(SQUARE, CODE, worth)
        self._floors, self._caps = (_array(name, SIZE, limits) for name in ("floor", "cap"))

    def gathered(self, rows: str) -> str:
        """The first time: of rows of `USER`, `CODE`, `SIZE`, and what each item is worth."""
        users = (
            f'SELECT max("{SIZE}") AS "{SIZE}", {_COUNTED} '
            f'FROM (SELECT * FROM ({rows}) AS held ORDER BY "{USER}") AS sorted GROUP BY "{USER}"'
        )
        return self._shared(users, "counted.gone")

    def narrowed(self, left: str) -> str:
        """From then on: of what this gave in the round before."""
        each = (
            f'SELECT "{CODE}", "{SIZE}", "{_DROPPED}", {self._squares} AS squares '
            f'FROM "{left}" OFFSET 0'
        )
        codes = f'SELECT unnest(users."{CODE}") AS "{CODE}" OFFSET 0'
        worth = (
            f'SELECT "{CODE}", users.squares["{CODE}" + 1] AS square FROM ({codes}) AS c OFFSET 0'
        )
        users = (
            f'SELECT users."{SIZE}", users."{_DROPPED}" AS before, one.* FROM ({each}) AS users '
            f"CROSS JOIN LATERAL (SELECT {_COUNTED} FROM ({worth}) AS worth) AS one"
        )
        return self._shared(users, "before + counted.gone")

    def _shared(self, users: str, dropped: str) -> str:
        """Who has something left, and how much a boost's square is worth."""
        looked_up = (
            f'SELECT "{CODE}", "{SIZE}", {dropped} AS "{_DROPPED}", squares, '
            f'{self._floors}["{SIZE}" + 1] AS floor '
            f'FROM ({users}) AS counted WHERE "{CODE}" IS NOT NULL'
        )
        rest = f'{SQUARE_OF_ONE} - (cardinality("{CODE}") + "{_DROPPED}") * floor'
        share = (
            f"(({rest})::float8 / nullif(squares, 0)::float8) "
            f"* ({OF_SHORT - 1}::float8 / {OF_SHORT}::float8)"
        )
        return (
            f'SELECT "{CODE}", "{SIZE}", "{_DROPPED}", coalesce({share}, 0::float8) AS "{_SHARE}" '
            f"FROM ({looked_up}) AS kept"
        )

    def added(self, left: str) -> str:
        """What all users add to each item."""
        users = (
            f'SELECT "{CODE}", "{_SHARE}", {self._squares} AS squares, '
            f'{self._floors}["{SIZE}" + 1]::float8 AS floor, '
            f'{self._caps}["{SIZE}" + 1]::float8 AS cap FROM "{left}" OFFSET 0'
        )
        told = f'"{_SHARE}", squares, floor, cap'
        rows = f'SELECT unnest("{CODE}") AS "{CODE}", {told} FROM ({users}) AS users'
        square = f'least(floor + floor(squares["{CODE}" + 1]::float8 * "{_SHARE}"), cap)'
        return (
            f'SELECT "{CODE}", sum(floor(sqrt({square})))::bigint AS "{SUM}" '
            f'FROM ({rows}) AS held GROUP BY "{CODE}"'
        )


_COUNTED = (
    f'array_agg("{CODE}") FILTER (WHERE "{SQUARE}" >= 0) AS "{CODE}", '
    f'(count(*) FILTER (WHERE "{SQUARE}" = {kernels.DROPPED}))::int AS gone, '
    f'sum("{SQUARE}") FILTER (WHERE "{SQUARE}" >= 0) AS squares'
)


def _array(value: str, key: str, table: str) -> str:
    """What a table has for the numbers from 0 on."""
    return f'(SELECT array_agg("{value}" ORDER BY "{key}") FROM "{table}")'
