"""Files and data frames of many kinds, each as parts with a schema and a way to read columns.

Reading is left to libraries. Their own errors quote cells and are replaced by errors that do not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from shortlist.errors import InputError, Words
from shortlist.runtime.processes import require_threads
from shortlist.table._conversions import encoding_of
from shortlist.table._filters_in_memory import as_declared, kept, texts_of
from shortlist.table._frames import open_frame
from shortlist.table._paths import NamedFile, files_of, is_list_of_paths
from shortlist.table.amounts import Amounts
from shortlist.table.formats import Writing
from shortlist.table.key_types import (
    as_keys,
    as_text,
    is_datable,
    is_numbered_once,
    is_of_categories,
    is_same_kind,
)
from shortlist.table.part import Cause, TablePart, origin_of
from shortlist.table.row_filters import RowFilter
from shortlist.table.scans import StandardInput, open_file, open_standard_input

if TYPE_CHECKING:
    import polars as pl


def open_parts(data: object, argument: str, writing: Writing | None = None) -> list[TablePart]:
    """The files of paths, globs and directories, or the one frame, as far as their schema.

    Args:
        data: As in `shortlist.pairs`; or the standard input.
        argument: Its name, for messages.
        writing: How text files are written.
    """
    require_threads()
    writing = Writing() if writing is None else writing
    if isinstance(data, StandardInput):
        parts = [open_standard_input(data, writing)]
    elif isinstance(data, str | os.PathLike) or is_list_of_paths(data, (str, os.PathLike)):
        files = files_of(data, argument)
        parts = [open_file(file, _written(file, argument, writing)) for file in files]
    else:
        parts = [open_frame(data, argument)]
    if argument == "data":
        _require_use(writing, parts)
    return [replace(part, writing=writing) for part in parts]


def _written(file: NamedFile, argument: str, writing: Writing) -> Writing:
    """How a file is written: a public list may be in UTF-8, whatever the table is written in."""
    if argument != "data" and writing.codec and encoding_of(file.path) is None:
        return replace(writing, encoding=None)
    return writing


def _require_use(writing: Writing, parts: list[TablePart]) -> None:
    """Refuse a separator or an encoding where no file has use of it."""
    csv, text = any(part.kind == "CSV" for part in parts), any(part.is_text for part in parts)
    for name, value, used in (
        ("separator", writing.separator, csv),
        ("encoding", writing.encoding, text),
    ):
        if value is not None and not used:
            raise InputError(
                "it is for CSV and text files, and there is none", "omit it", given={name: value}
            )


def rows_of(
    parts: list[TablePart],
    types: Mapping[str, pl.DataType],
    where: RowFilter | None = None,
    amounts: Amounts | None = None,
    *,
    with_categories: bool = False,
) -> pl.LazyFrame:
    """The named columns of all parts, one below the other, cast to `types`; of rows that are kept.

    Behind them come the steps of amounts, if there are any.

    No cast changes what kind of values they are: a type that a library found by looking at
    the rows may depend on one of them, and would change how all others are written.

    Args:
        parts: The table.
        types: The columns, and as what each is read.
        where: Which rows are kept.
        amounts: The column of what users spent, if there is one.
        with_categories: Whether columns of categories stay as they are, if all parts have the
            same: then a text has the same number in all rows.
    """
    import polars as pl

    alike = [name for name in types if len({part.schema[name] for part in parts}) == 1]
    stay = frozenset(alike if with_categories else [])
    as_read = [_conformed(part, types, where, amounts, stay) for part in parts]
    rows = pl.concat(as_read)
    if any(part.is_divided for part in parts):
        # As a stream, the time that Polars takes grows with the square of the number of files.
        return rows.collect(engine="in-memory").lazy()
    return rows


def _conformed(
    part: TablePart,
    types: Mapping[str, pl.DataType],
    where: RowFilter | None,
    amounts: Amounts | None,
    stay: frozenset[str],
) -> pl.LazyFrame:
    """The columns of one part; those of categories stay so, if they are among these."""
    import polars as pl

    asked = [] if where is None else [name for name in where.columns if name not in types]
    texts = texts_of(part, asked)
    if amounts is not None:
        asked = list(dict.fromkeys([*asked, amounts.column]))
        texts |= amounts.listed(part)
    rows, found = part.read([*types, *(n for n in asked if n not in texts)]), part.schema
    if not part.is_file:  # whose schema is a promise until the rows are there
        columns = rows.collect().get_columns()
        held = [_of_kind(column, part, types.get(column.name)) for column in columns]
        rows = pl.LazyFrame([*held, *texts.values()])
        found = rows.collect_schema()
    if where is not None:
        rows = rows.filter(kept(where, found))
    numbered = {
        name
        for name in stay
        if is_of_categories(found[name]) and (not part.is_file or is_numbered_once(found[name]))
    }
    keys = [
        pl.col(name) if name in numbered else as_keys(name, found[name], dtype)
        for name, dtype in types.items()
    ]
    return rows.select(keys if amounts is None else [*keys, amounts.steps()])


def _of_kind(column: pl.Series, part: TablePart, dtype: pl.DataType | None) -> pl.Series:
    """The column as it was promised: of keys of a type, or of values that only a filter reads."""
    import polars as pl

    if dtype is not None and part.schema[column.name] == pl.Object:
        refusal = InputError(
            "{origin}: a column of Python objects holds one that identifies nothing: it is neither "
            "text nor a whole number, a date, a UUID, a boolean or bytes",
            "cast the column to one type. It is not shown",
            origin=part.origin,
        )
        return as_text(column, refusal)
    if dtype is not None and is_same_kind(column.dtype, dtype):
        return column
    declared = as_declared(column, part.schema[column.name]) if dtype is None else None
    if declared is not None:
        return declared
    raise InputError(
        "{origin}: a column holds values of another kind than the type of the column says",
        "cast it to one type. They are not shown",
        origin=part.origin,
    )


def require_dates(rows: pl.DataFrame, origin: Words) -> pl.DataFrame:
    """The same rows of items; refuse dates and times that nothing could show once named."""
    if not all(map(is_datable, rows.get_columns())):
        raise beyond_dates(origin)
    return rows


def beyond_dates(origin: Words) -> InputError:
    """The refusal of dates and times that Python has not."""
    return InputError(
        "{origin}: a date or time of an item lies outside of the years 1 to 9999, or is infinite",
        "cast the column to text. It is not shown",
        origin=origin,
    )


def unreadable(parts: list[TablePart], cause: Cause | None) -> InputError:
    """The refusal where rows cannot be read, with the cause as far as it can be told."""
    for part in parts:
        if part.is_text and (said := part.conversion()):
            return InputError(
                "{origin} cannot be read to its end: a row cannot be parsed, since the file {said}",
                "{remedy}",
                origin=part.origin,
                said=said.rule,
                remedy=said.remedy,
            )
    origin = origin_of(parts)
    if cause is not None:
        return InputError(
            "{origin} cannot be read to its end: {cause}",
            "{remedy}. The row is private and not shown",
            origin=origin,
            cause=cause.rule,
            remedy=cause.remedy,
        )
    return InputError(
        "{origin} cannot be read to its end: it has changed or is damaged",
        "fix it. The row is private and not shown",
        origin=origin,
    )
