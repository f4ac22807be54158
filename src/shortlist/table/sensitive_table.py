"""The sensitive table: checked by its schema at once, read when it is needed.

What is accepted is decided in `_column_roles.py`. How it is read is said in `reading.py`: files by
`_paths.py` and `scans.py`, frames by `_frames.py` and `_arrow.py`, each as `part.py` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from shortlist.errors import InputError, Words, in_quotes
from shortlist.table._column_roles import check_roles, types_of
from shortlist.table._filters_in_memory import typed
from shortlist.table._filters_in_sql import parsed
from shortlist.table.amounts import Amounts
from shortlist.table.coding import PlainNumbers, code_each, join, read_pieces
from shortlist.table.formats import Writing
from shortlist.table.key_types import fits_numpy, is_datable
from shortlist.table.keys import Keys, RawKeys
from shortlist.table.part import TablePart, attempt, origin_of
from shortlist.table.reading import beyond_dates, open_parts, require_dates, rows_of, unreadable
from shortlist.table.row_filters import RowFilter

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from shortlist.draws import Floats, Ints

# Differences and sums of two counts fit 64 bits.
_LARGEST = 2**62

_WHOLE_DOUBLES = 2**53

_T = TypeVar("_T")
_N = TypeVar("_N", np.int64, np.float64)


class CheckedTable:
    """A table that has been checked but not read.

    Attributes:
        columns: The types of the named columns. Categories are strings.
        parts: The files or the frame.
        where: The rows that count; None for all.
        amounts: A further column of what users spent; None where none is read.
    """

    def __init__(
        self,
        parts: list[TablePart],
        columns: dict[str, pl.DataType],
        where: RowFilter | None = None,
        amounts: Amounts | None = None,
    ) -> None:
        self.columns = columns
        self.parts = parts
        self.where = where
        self.amounts = amounts

    def check(self) -> None:
        """Refuse, without reading a row, what could not be read any more.

        Raises:
            InputError: A file is gone or has other columns, or an engine does not answer.
        """
        asked = [] if self.where is None else [*self.where.columns]
        spent = [] if self.amounts is None else [self.amounts.column]
        for part in self.parts:
            part.check(list(dict.fromkeys([*self.columns, *asked, *spent])))

    def _attempt(self, read: Callable[[], _T]) -> _T:
        """What is read; where a library fails at it, why, as far as that can be told."""
        return attempt(read, partial(unreadable, self.parts))


def open_checked(
    data: object, roles: Mapping[str, str], writing: Writing | None
) -> tuple[list[TablePart], dict[str, pl.DataType]]:
    """The parts of a table, and the types of its columns by these roles; no row is read."""
    parts = open_parts(data, "data", writing)
    return parts, types_of(parts, roles)


class SensitiveTable(CheckedTable):
    """Users and items, or items and their counts or scores. Built by `open_table`.

    Attributes:
        columns: The types of the named columns, the items' last. Categories are strings.
        parts: The files or the frame.
        role: Of the first column: user, count or score.
    """

    def __init__(
        self,
        parts: list[TablePart],
        columns: dict[str, pl.DataType],
        role: str,
        where: RowFilter | None = None,
        amounts: Amounts | None = None,
    ) -> None:
        super().__init__(parts, columns, where, amounts)
        self.role = role

    @property
    def items(self) -> dict[str, pl.DataType]:
        """The types of the item columns: all but the first."""
        _, *items = self.columns.items()
        return dict(items)

    def by(self, names: object) -> SensitiveTable:
        """The same table with these columns, of groups, as the first of its items' columns."""
        first, *items = self.columns
        spent = {} if self.amounts is None else {"amount": self.amounts.column}
        roles = check_roles(**{self.role: first}, **spent, by=names, item=items)
        types = types_of(self.parts, {n: role for n, role in roles.items() if role != "amount"})
        return SensitiveTable(self.parts, types, self.role, self.where, self.amounts)

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
        return self._attempt(lambda: self._joined(slice(None)))

    def distinct(self) -> pl.DataFrame:
        """Read users and items, each pair once, by their values; leave out rows with a null.

        Raises:
            InputError: As `pairs`.

        >>> import polars as pl
        >>> frame = pl.DataFrame({"user": [7, 7, None], "page": ["a", "a", "c"]})
        >>> open_table(frame, user="user", items=["page"]).distinct().rows()
        [(7, 'a')]
        """
        return self.by_value().unique()

    def by_value(self) -> pl.DataFrame:
        """As `distinct`, but a pair is there as often as it is in the rows: this is quicker."""
        rows = self._attempt(
            lambda: rows_of(self.parts, self.columns, self.where).drop_nulls().collect()
        )
        return self._with_dates(rows)

    def with_amounts(self) -> tuple[Keys | RawKeys, Keys, Ints]:
        """Read users, items and the steps of what was spent, as `pairs`.

        A row without a finite amount is left out.

        >>> import polars as pl
        >>> spent = [0.5, float("nan"), None]
        >>> frame = pl.DataFrame({"user": [7, 8, 9], "page": ["a", "b", "c"], "spent": spent})
        >>> table = open_table(
        ...     frame, user="user", items=["page"], amounts=Amounts("spent", 600)
        ... )
        >>> table.with_amounts()[2]
        array([873])
        """
        return self._attempt(lambda: self._spent(slice(None)))

    def grouped(self, n_by: int) -> tuple[Keys | RawKeys, Keys, Keys]:
        """Read users, groups and items, as `pairs`: the first `n_by` item columns are of groups.

        >>> import polars as pl
        >>> frame = pl.DataFrame({"user": [7, 7], "country": ["FR", "CH"], "page": ["a", "a"]})
        >>> table = open_table(frame, user="user", items=["country", "page"])
        >>> users, countries, pages = table.grouped(1)
        >>> users.size, countries.size, pages.size
        (1, 2, 1)
        """
        return self._attempt(lambda: self._joined(slice(n_by), slice(n_by, None)))

    def grouped_amounts(self, n_by: int) -> tuple[Keys | RawKeys, Keys, Keys, Ints]:
        """Read users, groups, items and the steps of what was spent, as `with_amounts`."""
        return self._attempt(lambda: self._spent(slice(n_by), slice(n_by, None)))

    def _joined(self, *parts: slice) -> tuple[Any, ...]:
        """The keys of users, and of each part of the item columns."""
        users, *items = self._coded()
        return users, *(reduce(join, items[part]) for part in parts)

    def _spent(self, *parts: slice) -> tuple[Any, ...]:
        """The keys of users, and of each part of the item columns; and the steps of each row."""
        users, *items, steps = self._coded()
        return users, *(reduce(join, items[part]) for part in parts), steps

    def _coded(self) -> Iterator[Any]:
        in_parquet = all(part.kind == "Parquet" for part in self.parts)
        rows = rows_of(self.parts, self.columns, self.where, self.amounts, with_categories=True)
        n_rows, pieces = read_pieces(rows, streamed=in_parquet)
        found = rows.collect_schema()
        types = {name: found[name] for name in self.columns}
        beside = [] if self.amounts is None else [PlainNumbers(n_rows)]
        return code_each(map(self._with_dates, pieces), types, n_rows, *beside)

    def _with_dates(self, piece: pl.DataFrame) -> pl.DataFrame:
        """The piece, whose items could all be shown; users never are."""
        if not all(is_datable(piece[name]) for name in self.items):
            raise beyond_dates(origin_of(self.parts))
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
        return self._attempt(self._counted)

    def _counted(self) -> tuple[pl.DataFrame, Ints]:
        rows = rows_of(self.parts, self.columns, self.where).collect().drop_nulls(list(self.items))
        column, items = rows.to_series(), rows.drop(rows.columns[0])
        origin = origin_of(self.parts)
        require_dates(items, origin)
        written = Words(
            "{origin}: {count=}", origin=origin, given={"count": in_quotes(column.name)}
        )
        counts = whole_counts(column, written)
        check_distinct(items, origin)
        return items, counts

    def scores(self) -> tuple[pl.DataFrame, Floats]:
        """Read items and their scores, leaving out rows without an item. No score is refused.

        Returns:
            The item columns, one row per item, and the score of each; NaN where it has none.

        Raises:
            InputError: As `pairs`; or an item has two rows.

        >>> import polars as pl
        >>> frame = pl.DataFrame({"page": ["a", "b", None], "hours": [3.5, None, 5.0]})
        >>> pages, scores = open_table(frame, score="hours", items=["page"]).scores()
        >>> pages["page"].to_list(), scores
        (['a', 'b'], array([3.5, nan]))
        """
        return self._attempt(self._scored)

    def _scored(self) -> tuple[pl.DataFrame, Floats]:
        rows = rows_of(self.parts, self.columns).collect().drop_nulls(list(self.items))
        column, items = rows.to_series(), rows.drop(rows.columns[0])
        origin = origin_of(self.parts)
        require_dates(items, origin)
        check_distinct(items, origin, _ONE_SCORE)
        return items, numbers_of(column)


def open_table(
    data: object,
    *,
    items: object,
    writing: Writing | None = None,
    where: str | Sequence[str] | None = None,
    amounts: Amounts | None = None,
    **first: object,
) -> SensitiveTable:
    """Check a table of users and items, or of items and their counts or scores, by its schema.

    Nothing but the schema is read.

    Args:
        data: As in `shortlist.pairs`; or the standard input. Columns of CSV and NDJSON files are
            read as text, since these declare no types; in CSV an empty field, quoted or not, is a
            null.
        items: The column or columns of the item.
        writing: How text files are written, as in `shortlist.pairs`.
        where: Which rows count, as in `shortlist.pairs`.
        amounts: Of users and items, the column of what users spent.
        first: The one other column by its role: `user=`, the privacy unit, `count=` or `score=`.

    Raises:
        InputError: The table cannot be found or is not one; a column is unknown, named twice, or
            neither text, integers, dates nor datetimes; counts are no integers, or scores no
            numbers; or the filter cannot be used.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"user": [7], "page": ["a"]})
    >>> open_table(frame, user="user", items=["page"]).columns
    {'user': Int64, 'page': String}
    """
    spent = {} if amounts is None else {"amount": amounts.column}
    roles = check_roles(**first, **spent, item=items)
    wanted = None if where is None else parsed(where)
    parts, columns = open_checked(data, {n: r for n, r in roles.items() if r != "amount"}, writing)
    if amounts is not None:
        amounts.check(parts)
    wanted = None if wanted is None else typed(wanted, parts)
    return SensitiveTable(parts, columns, next(iter(first)), wanted, amounts)


def whole_counts(column: pl.Series, written: Words) -> Ints:
    """The counts of a column of integers, or of text that is written as integers are.

    It is refused, and not quoted, where one is null, or no whole number from 0 to 2^62. Messages
    call it as it was `written`.

    >>> import polars as pl
    >>> whole_counts(pl.Series(["7", "0"]), Words("count"))
    array([7, 0])
    """
    import polars as pl

    if column.null_count():
        raise InputError(
            "{written} holds a null beside an item",
            "write the count, or leave the row out",
            written=written,
        )
    numbers = column
    if column.dtype == pl.String:
        numbers = column.cast(pl.Int64, strict=False)
        if numbers.null_count() or not (numbers.cast(pl.String) == column).all():
            raise InputError(
                "{written} holds a text that is not a whole number written plainly, such as 42",
                "fix it. The row is private and not shown",
                written=written,
            )
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() <= _LARGEST):  # type: ignore[operator]
        raise InputError(
            "{written} holds a number that is not a count: below 0 or above 2^62",
            "fix it. The row is private and not shown",
            written=written,
        )
    return numbers.cast(pl.Int64).to_numpy(writable=True)


def numbers_of(column: pl.Series) -> Floats:
    """The scores of a column as doubles; NaN for what is no number.

    Integers beyond those that a double knows stand at the last of these, so that none moves by more
    than it did.

    >>> import polars as pl
    >>> numbers_of(pl.Series(["0.5", "-inf", "many", None]))
    array([ 0.5, -inf,  nan,  nan])
    """
    import polars as pl

    if column.dtype == pl.String:
        column = column.str.strip_chars()
    elif column.dtype.is_integer():
        column = column.cast(pl.Int128).clip(-_WHOLE_DOUBLES, _WHOLE_DOUBLES)
    numbers = column.cast(pl.Float64, strict=False).fill_null(float("nan"))
    return numbers.to_numpy(writable=True)


_ONE_COUNT = Words(
    "give every item one row, with the number of its users. If the rows are of users and items, "
    "use {sl.pairs}"
)
_ONE_SCORE = Words("give every item one row, with its score")


def check_distinct(items: pl.DataFrame, origin: Words, remedy: Words = _ONE_COUNT) -> None:
    """Refuse a table in which an item has two rows. It is not quoted."""
    if items.height and _repeats(items):
        raise InputError(
            "{origin}: an item is in more than one row",
            "{remedy}",
            origin=origin,
            remedy=remedy,
        )


def _repeats(rows: pl.DataFrame) -> bool:
    """Whether a row occurs twice, found as its types allow, so that it costs little to know."""
    if rows.width > 1:
        distinct = rows.lazy().group_by(rows.columns).agg().collect(engine="streaming")
        return distinct.height < rows.height
    values = rows.to_series().to_physical()
    if fits_numpy(values.dtype):
        numbers = values.to_numpy()
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < min(8 * len(numbers), 2**32):
            return _repeats_between(numbers, low, high)
    return values.n_unique() < len(values)


def _repeats_between(numbers: Ints, low: int, high: int) -> bool:
    """Whether an integer occurs twice, where all lie near each other: a byte for each possible."""
    # Modulo 2^32 the distances are exact whatever the width of the type.
    shift = np.uint32(low % 2**32)
    seen = np.zeros(high - low + 1, np.bool_)
    seen[np.subtract(numbers, shift, dtype=np.uint32, casting="unsafe")] = True
    return int(np.count_nonzero(seen)) < len(numbers)


def align(
    items: pl.DataFrame, counts: NDArray[_N], wanted: pl.DataFrame, absent: float = 0
) -> NDArray[_N]:
    """The count of each wanted item, 0 where the histogram has none; other items are dropped.

    Or the score, and another number where there is none.

    >>> import polars as pl
    >>> pages = pl.DataFrame({"page": ["a", "b"]})
    >>> align(pages, np.array([3, 4]), pl.DataFrame({"page": ["c", "b"]}))
    array([0, 4])
    """
    import polars as pl

    names = {name: f"item {i}" for i, name in enumerate(items.columns)}  # whatever they are called
    held = items.rename(names).insert_column(0, pl.Series("count", counts))
    places = wanted.rename(names).with_row_index("place")
    found = held.join(places, on=list(names.values()), how="inner")  # looked up in the fewer
    aligned = np.full(wanted.height, absent, counts.dtype)
    aligned[found["place"].to_numpy()] = found["count"].to_numpy()
    return aligned
