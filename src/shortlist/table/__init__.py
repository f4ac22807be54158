"""The sensitive table: checked by its schema at once, read when it is needed.

What is accepted is decided in `columns.py`, how it is read in `reading.py`: files by `files.py`
and `scans.py`, frames by `frames.py`, each as `part.py` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from shortlist.errors import Words, in_quotes
from shortlist.table.coding import code_grouped, code_pairs, read_pieces
from shortlist.table.columns import check_columns, check_groups, check_names, column_type
from shortlist.table.counts import check_distinct, whole_counts
from shortlist.table.formats import Writing
from shortlist.table.keys import Keys, RawKeys
from shortlist.table.part import Part, attempt, origin_of
from shortlist.table.reading import open_parts, require_dates, rows_of, unreadable

if TYPE_CHECKING:
    import polars as pl

    from shortlist.draws import Ints

__all__ = ["Table", "Writing", "open_table"]


class Table:
    """A table that has been checked but not read. Built by `open_table`.

    Attributes:
        columns: The types of the named columns, the items' last. Categories are strings.
        parts: The files or the frame.
        role: Of the first column: user or count.
    """

    def __init__(self, parts: list[Part], columns: dict[str, pl.DataType], role: str) -> None:
        self.columns = columns
        self.parts = parts
        self.role = role

    @property
    def items(self) -> dict[str, pl.DataType]:
        """The types of the item columns: all but the first."""
        _, *items = self.columns.items()
        return dict(items)

    def by(self, names: object) -> Table:
        """The same table with the columns of groups as the first of its items' columns.

        Args:
            names: The column or columns of groups.

        Raises:
            InputError: One is unknown, named twice, or of no usable type.
        """
        first, *items = self.columns
        roles = check_groups(names, {first: self.role} | dict.fromkeys(items, "item"))
        for part in self.parts:
            check_columns(part, roles)
        types = {name: column_type(self.parts, name, role) for name, role in roles.items()}
        return Table(self.parts, types, self.role)

    def check(self) -> None:
        """Refuse, without reading a row, what could not be read any more.

        Raises:
            InputError: A file is gone or has other columns, or an engine does not answer.
        """
        for part in self.parts:
            part.check(list(self.columns))

    def pairs(self) -> tuple[Keys | RawKeys, Keys]:
        """Read users and items, leave out rows with a null, and code both.

        Returns:
            Users and items, whose `codes` have one entry per row, in the same order. Users are not
            coded where that is left to whoever groups them.

        Raises:
            InputError: A row cannot be parsed or a file is damaged.

        >>> import polars as pl
        >>> frame = pl.DataFrame({"user": [7, 7, None], "page": ["a", "b", "c"]})
        >>> users, pages = open_table(frame, user="user", items=["page"]).pairs()
        >>> users.codes, pages.size
        (array([0, 0], dtype=uint32), 2)
        """
        return attempt(self._code, partial(unreadable, self.parts))

    def _code(self) -> tuple[Keys | RawKeys, Keys]:
        n_rows, pieces = self._pieces()
        return code_pairs(pieces, self.columns, n_rows)

    def grouped(self, n_by: int) -> tuple[Keys | RawKeys, Keys, Keys]:
        """The same, where the first of the item columns are those of groups.

        Args:
            n_by: How many these are.

        Returns:
            Users, groups and items.

        Raises:
            InputError: As `pairs`.

        >>> import polars as pl
        >>> frame = pl.DataFrame({"user": [7, 7], "country": ["FR", "CH"], "page": ["a", "a"]})
        >>> table = open_table(frame, user="user", items=["country", "page"])
        >>> users, countries, pages = table.grouped(1)
        >>> users.size, countries.size, pages.size
        (1, 2, 1)
        """
        return attempt(partial(self._code_grouped, n_by), partial(unreadable, self.parts))

    def _code_grouped(self, n_by: int) -> tuple[Keys | RawKeys, Keys, Keys]:
        n_rows, pieces = self._pieces()
        return code_grouped(pieces, self.columns, n_rows, n_by)

    def _pieces(self) -> tuple[int, Iterator[pl.DataFrame]]:
        """How many rows there are, and the rows, a piece at a time."""
        in_parquet = all(part.kind == "Parquet" for part in self.parts)
        n_rows, pieces = read_pieces(rows_of(self.parts, self.columns), streamed=in_parquet)
        return n_rows, map(self._with_dates, pieces)

    def _with_dates(self, piece: pl.DataFrame) -> pl.DataFrame:
        """The piece, whose items could all be shown; users never are."""
        require_dates(piece.select(list(self.items)), origin_of(self.parts))
        return piece

    def counts(self) -> tuple[pl.DataFrame, Ints]:
        """Read items and their counts, leaving out rows without an item. Nothing is coded.

        Returns:
            The item columns, one row per item, and the count of each.

        Raises:
            InputError: As `pairs`; or a count is null or no whole number from 0 to 2^62, or an item
                has two rows.

        >>> import polars as pl
        >>> frame = pl.DataFrame({"page": ["a", "b", None], "readers": [3, 0, 5]})
        >>> pages, counts = open_table(frame, count="readers", items=["page"]).counts()
        >>> pages["page"].to_list(), counts
        (['a', 'b'], array([3, 0]))
        """
        return attempt(self._count, partial(unreadable, self.parts))

    def _count(self) -> tuple[pl.DataFrame, Ints]:
        rows = rows_of(self.parts, self.columns).collect().drop_nulls(list(self.items))
        column, items = rows.to_series(), rows.drop(rows.columns[0])
        origin = origin_of(self.parts)
        require_dates(items, origin)
        counts = whole_counts(column, _counts_of(origin, column.name))
        check_distinct(items, origin)
        return items, counts


def _counts_of(origin: Words, name: str) -> Words:
    return Words("{origin}: {count=}", origin=origin, given={"count": in_quotes(name)})


def open_table(
    data: object, *, items: object, writing: Writing | None = None, **first: object
) -> Table:
    """Check a table of users and items, or of items and their counts, by its schema.

    Nothing but the schema is read.

    Args:
        data: As in `shortlist.pairs`; or the standard input. Columns of CSV and NDJSON files are
            read as text, since these declare no types; in CSV an empty field, quoted or not, is a
            null.
        items: The column or columns of the item.
        writing: How text files are written, as in `shortlist.pairs`.
        first: The one other column by its role: `user=`, the privacy unit, or `count=`.

    Raises:
        InputError: The table cannot be found or is not one; a column is unknown, named twice, or
            neither text, integers, dates nor datetimes; counts are no integers.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"user": [7], "page": ["a"]})
    >>> open_table(frame, user="user", items=["page"]).columns
    {'user': Int64, 'page': String}
    """
    roles = check_names(items, **first)
    parts = open_parts(data, "data", writing)
    for part in parts:
        check_columns(part, roles)
    types = {name: column_type(parts, name, role) for name, role in roles.items()}
    return Table(parts, types, next(iter(first)))
