"""Rows of comparisons: winners and losers as positions among the items that everybody knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shortlist.errors import InputError, in_quotes
from shortlist.table._column_roles import check_roles
from shortlist.table.coding import code
from shortlist.table.formats import Writing
from shortlist.table.keys import Keys
from shortlist.table.part import TablePart, origin_of
from shortlist.table.public_items import IN_TABLE, InTable
from shortlist.table.reading import require_dates, rows_of
from shortlist.table.sensitive_table import CheckedTable, open_checked

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from shortlist.draws import Ints


class ComparisonRows(NamedTuple):
    """Comparisons of public items.

    Attributes:
        winners: The position in `items` of the winner of each comparison, shape (n,).
        losers: Of the loser, never the same, shape (n,).
        users: A code of the user who made it, shape (n,); None where users are not known.
        n_users: How many such codes there may be.
        items: What everybody knows, one row an item, in one column called item.
    """

    winners: Ints
    losers: Ints
    users: NDArray[np.uint32] | None
    n_users: int
    items: pl.DataFrame


class ComparisonTable(CheckedTable):
    """Winners, losers and perhaps users. Built by `open_comparisons`."""

    @property
    def item(self) -> dict[str, pl.DataType]:
        """The one type of winners and losers, under the winners' name."""
        winner, *_ = self.columns
        return {winner: self.columns[winner]}

    @property
    def items(self) -> dict[str, pl.DataType]:
        """The same type, under the name that items have in a release."""
        return dict(zip(["item"], self.item.values(), strict=True))

    def rows(self, public: pl.DataFrame | InTable) -> ComparisonRows:
        """Read the comparisons of public items.

        A row that holds a null, an item that is not public, or the same item twice, is none.

        Args:
            public: One row per item, in a column of the winners' name and type; or `IN_TABLE`.

        Raises:
            InputError: A row cannot be parsed or a file is damaged.
        """
        return self._attempt(lambda: self._rows(public))

    def _rows(self, public: pl.DataFrame | InTable) -> ComparisonRows:
        import polars as pl

        frame = rows_of(self.parts, self.columns).collect().drop_nulls()
        winner, loser, *users = frame.get_columns()
        require_dates(pl.DataFrame([winner, loser]), origin_of(self.parts))
        keys = code([pl.concat([winner, loser.alias(winner.name)])])
        items, positions = _in_table(keys) if public is IN_TABLE else _listed(keys, public)
        winners, losers = positions[keys.codes].reshape(2, -1)
        kept = (winners >= 0) & (losers >= 0) & (winners != losers)
        coded = code(users) if users else None
        return ComparisonRows(
            winners[kept],
            losers[kept],
            None if coded is None else coded.codes[kept],
            0 if coded is None else coded.size,
            items.select(pl.col(winner.name).alias("item")),
        )


def _listed(keys: Keys, public: pl.DataFrame) -> tuple[pl.DataFrame, Ints]:
    """The items of a list, and the position of each code among them, -1 where it has none."""
    codes = keys.find(public)
    positions = np.full(keys.size, -1, np.int64)
    held = np.flatnonzero(codes >= 0)
    positions[codes[held]] = held
    return public, positions


def _in_table(keys: Keys) -> tuple[pl.DataFrame, Ints]:
    """As `_listed`, of the items of the table in an order that says nothing of its rows."""
    occurs = np.zeros(keys.size, np.bool_)
    occurs[keys.codes] = True
    items = keys.take(np.flatnonzero(occurs))
    return _listed(keys, items.sort(items.columns))


def _has_no_type(parts: list[TablePart], name: str) -> bool:
    import polars as pl

    return all(part.schema[name] == pl.Null for part in parts)


def open_comparisons(
    data: object,
    *,
    winner: object,
    loser: object,
    user: object = None,
    writing: Writing | None = None,
) -> ComparisonTable:
    """Check a table with one row per comparison by its schema; nothing else is read.

    Args:
        data: As in `open_table`.
        winner: The column of the items that won.
        loser: The column of the items that lost, of the same type.
        user: The column of who compared them, or None.
        writing: As in `open_table`.

    Raises:
        InputError: As in `open_table`; or the items that won are of another type than those that
            lost.

    >>> import polars as pl
    >>> games = pl.DataFrame({"white": ["Ann"], "black": ["Bob"]})
    >>> table = open_comparisons(games, winner="white", loser="black")
    >>> rows = table.rows(IN_TABLE)
    >>> rows.items["item"].to_list(), rows.winners, rows.losers
    (['Ann', 'Bob'], array([0]), array([1]))
    """
    users = {} if user is None else {"user": user}
    roles = check_roles(winner=winner, loser=loser, **users)
    parts, columns = open_checked(data, roles, writing)
    of_winners, of_losers, *_ = roles
    for name, other in ((of_winners, of_losers), (of_losers, of_winners)):
        if _has_no_type(parts, name):  # it holds no value: the other column says what they would be
            columns[name] = columns[other]
    won, lost, *_ = columns.values()
    if won != lost:
        raise InputError(
            "{argument}: {winner=} is of type {won}, and {loser=} is of type {lost}",
            "cast them to one type",
            given={"winner": in_quotes(of_winners), "loser": in_quotes(of_losers)},
            argument=parts[0].argument,
            won=won,
            lost=lost,
        )
    return ComparisonTable(parts, columns)
