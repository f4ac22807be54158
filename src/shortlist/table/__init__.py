"""The sensitive table: checked by its schema at once, read and coded when it is needed.

What is accepted is decided in `columns.py`, how it is read in `reading.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from shortlist.table.columns import check_columns, check_names, column_type
from shortlist.table.keys import Keys, code_pairs, fits_numpy, join
from shortlist.table.reading import Part, attempt, open_parts, rows_of
from shortlist.table.streaming import stream_offsets

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Table", "open_table"]


class Table:
    """A table that has been checked but not read. Built by `open_table`.

    Attributes:
        columns: The types of the named columns, the user's first. Categories are strings.
    """

    def __init__(self, parts: list[Part], columns: dict[str, pl.DataType]) -> None:
        self.columns = columns
        self._parts = parts

    def pairs(self) -> tuple[Keys, Keys]:
        """Read the named columns, leave out rows with a null, and code users and items.

        Returns:
            Users and items, whose `codes` have one entry per row, in the same order.

        Raises:
            InputError: A row cannot be parsed or a file is damaged.

        >>> import polars as pl
        >>> frame = pl.DataFrame({"user": [7, 7, None], "page": ["a", "b", "c"]})
        >>> users, pages = open_table(frame, user="user", items=["page"]).pairs()
        >>> users.codes, pages.size
        (array([0, 0], dtype=uint32), 2)
        """
        origin = self._parts[0].origin if len(self._parts) == 1 else self._parts[0].argument
        refusal = (
            f"{origin} cannot be read to its end: it has changed or is damaged, a row cannot be "
            "parsed, or a text is not UTF-8. Mend it; the row is private and not shown."
        )
        return attempt(self._code, refusal)

    def _code(self) -> tuple[Keys, Keys]:
        rows = rows_of(self._parts, self.columns)
        if self._can_be_streamed() and (keys := stream_offsets(rows)):
            return keys[0], reduce(join, keys[1:])
        columns = rows.collect().drop_nulls().get_columns()
        return code_pairs(columns.pop(0), columns)

    def _can_be_streamed(self) -> bool:
        """Whether these are integers in files, which it costs little to read again if need be."""
        in_files = all(part.kind == "Parquet" for part in self._parts)
        return in_files and all(map(fits_numpy, self.columns.values()))


def open_table(data: object, *, user: str, items: Sequence[str]) -> Table:
    """Check a table of users and items by its schema.

    Nothing but the schema is read.

    Args:
        data: A path or glob of Parquet, CSV (.csv) or NDJSON (.ndjson, .jsonl) files; a Polars,
            pandas or PyArrow table; a lazy frame that narwhals takes. Columns of CSV and NDJSON
            files are read as text, since these declare no types; in CSV an empty field, quoted or
            not, is a null.
        user: The column of the privacy unit.
        items: The column or columns of the item.

    Raises:
        InputError: The table cannot be found or is not one; a column is unknown, named twice, or
            neither text, integers, dates nor datetimes.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"user": [7], "page": ["a"]})
    >>> open_table(frame, user="user", items=["page"]).columns
    {'user': Int64, 'page': String}
    """
    names = [user, *check_names(user, items)]
    parts = open_parts(data, "data")
    roles = dict.fromkeys(names, "item") | {user: "user"}
    for part in parts:
        check_columns(part, roles)
    return Table(parts, {name: column_type(parts, name, roles[name]) for name in names})
