"""Files and the standard input as parts."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from shortlist.errors import GuessWarning, InputError, Words
from shortlist.table._conversions import (
    array_of_json,
    conversion,
    converted,
    encoding_of,
    first_line,
    in_utf_8,
)
from shortlist.table._paths import NamedFile, in_database, require_readable
from shortlist.table.formats import (
    READABLE,
    Format,
    Writing,
    as_named,
    format_by_suffix,
    format_of,
    scan,
    separator_in,
)
from shortlist.table.part import Cause, TablePart, attempt

if TYPE_CHECKING:
    import polars as pl

_STANDARD_INPUT = Words("the standard input")
_BYTE_ORDER_MARK = "\ufeff"
_PARQUET = "PAR1"
_SEPARATES_NOTHING = "\1"
_NAMES = {";": "semicolons", "\t": "tabs", "|": "bars"}
_OF_DATABASES = (".db", ".duckdb", ".ddb", ".sqlite", ".sqlite3")
_SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True)
class StandardInput:
    """In place of a path: what another program writes to this one, in a format by its suffix.

    Attributes:
        suffix: That of a file of this format.
        as_parquet: How whoever asks says that it is Parquet.
    """

    suffix: str = ".csv"
    as_parquet: Words = field(default=Words("read it as Parquet"))


def open_file(file: NamedFile, writing: Writing) -> TablePart:
    """A file that can be read, as far as its columns' names."""
    held = format_of(file.path, writing.separator)
    if held is None:
        suffix = PurePath(file.path).suffix.lower()
        if suffix in _OF_DATABASES and "data" in file.argument.given:
            raise _database(file)
        if (cause := converted(file.path)) is not None:
            raise _foreign(file, cause)
        ending = f'the suffix "{suffix}"' if suffix else "no suffix"
        raise InputError(
            "{origin} has {ending}, which is not read",
            "use one of {readable}",
            origin=file.origin,
            ending=ending,
            readable=READABLE,
        )
    place = os.path.abspath(file.path)  # noqa: PTH100 - a link stays one; and the folder may change
    part = _open(file, place, held, writing.codec)
    return _divided(replace(part, places=(place,)), file.partition)


def _divided(part: TablePart, partition: Mapping[str, str | None]) -> TablePart:
    """The part with the columns that folders are named by, as texts, unless the file has them."""
    import polars as pl

    named = {name: text for name, text in partition.items() if name not in part.schema}
    if not named:
        return part

    def held(names: list[str]) -> list[str]:
        return [name for name in names if name not in named] or list(part.schema)[:1]

    def read(names: list[str]) -> pl.LazyFrame:
        texts = (pl.lit(text, pl.String).alias(name) for name, text in named.items())
        return part.read(held(names)).with_columns(texts).select(names)

    def check(names: list[str]) -> None:
        part.check(held(names))

    types = {**part.schema, **dict.fromkeys(named, pl.String())}
    return replace(part, schema=types, read=read, check=check, is_divided=True)


def _database(file: NamedFile) -> InputError:
    if _head(file.path, len(_SQLITE)) == _SQLITE:
        return InputError(
            "{origin} is a database of SQLite, which is not read as a file",
            "write {url} and {table=...}",
            origin=file.origin,
            url=in_database("sqlite", file.path),
        )
    return InputError(
        "{origin} has the suffix of a database, which is not read as a file",
        "for one of DuckDB write {url} and {table=...}",
        origin=file.origin,
        url=in_database("duckdb", file.path),
    )


def open_standard_input(data: StandardInput, writing: Writing) -> TablePart:
    """All that comes in, held in memory, since it comes but once."""
    file = NamedFile("-", _STANDARD_INPUT, _STANDARD_INPUT)
    refusal = InputError(
        "{origin} cannot be read", "check what it is connected to", origin=file.origin
    )
    content = attempt(sys.stdin.buffer.read, refusal)
    if not content:
        raise InputError(
            "{origin} is empty, without even a header",
            "check what writes to it",
            origin=file.origin,
        )
    held = format_by_suffix(data.suffix, writing.separator)
    part = _open(file, content, held, writing.codec, data.as_parquet)
    return replace(part, files=("/dev/stdin",))  # which is a file's place, where one is read


def _open(
    file: NamedFile,
    source: str | bytes,
    held: Format,
    codec: str | None = None,
    as_parquet: Words = Words("give it the suffix .parquet"),  # noqa: B008 - a constant
) -> TablePart:
    """A file as far as its header. Of one in another encoding only the first line is converted."""
    codec = None if held.kind == "Parquet" else codec
    convert = partial(_conversion, file, source, as_parquet, encoding_is_given=codec is not None)
    if _begins_an_array(file.path):
        raise _foreign(file, array_of_json(file.path))
    cannot = partial(_cannot_be_read, file, held, convert)
    if codec is None:
        return _opened(file, source, held, cannot, convert)
    line = attempt(lambda: first_line(source, codec), cannot)
    part = _opened(file, line, held, cannot, convert)
    whole = replace(held, separator=part.separator)

    def read(names: list[str]) -> pl.LazyFrame:
        return scan(in_utf_8(source, codec), whole, names).select(names)

    return replace(part, read=read, encoding=codec)


def _opened(
    file: NamedFile,
    source: str | bytes,
    held: Format,
    cannot: Callable[[Cause | None], InputError],
    convert: Callable[[], Cause | None],
) -> TablePart:
    import polars as pl

    is_guessed = held.separator is None
    source, held, types = attempt(lambda: _header(source, held), cannot)
    if is_guessed and held.separator not in (None, ","):
        _say_guessed(file, held.separator)
    repeated: frozenset[str] = frozenset()
    if held.kind != "Parquet":  # it declares no types
        _refuse_foreign(file, types, convert)
        repeated = attempt(lambda: _repeated(source, held, list(types)), cannot)
        types = {name: pl.String() for name in types if not _is_numbered(name, repeated)}

    def read(names: list[str]) -> pl.LazyFrame:
        rows = scan(source, held, names).select(names)
        if rows.collect_schema() != {name: types[name] for name in names}:
            raise InputError(
                "{origin} has changed since it was opened", "open it again", origin=file.origin
            )
        return rows

    def check(names: list[str]) -> None:
        if isinstance(source, str):
            require_readable(replace(file, path=source))
        attempt(lambda: read(names), cannot)

    return TablePart(
        file.argument,
        file.origin,
        types,
        read,
        held.kind,
        repeated=repeated,
        files=(file.path,),
        conversion=convert,
        separator=held.separator,
        check=check,
    )


def _say_guessed(file: NamedFile, separator: str) -> None:
    warnings.warn(
        GuessWarning(
            "{argument}: fields are taken to be separated by {found}, as the first line has it",
            "To settle it, give {said}. If it is another character, give that one",
            said=Words("{separator=}", given={"separator": separator}),
            argument=file.argument,
            found=_NAMES[separator],
        ),
        stacklevel=2,
    )


def _header(
    source: str | bytes, held: Format
) -> tuple[str | bytes, Format, dict[str, pl.DataType]]:
    """The source, its format and its columns, as the first line tells them."""
    from polars.exceptions import PolarsError

    if held.kind == "NDJSON":
        with contextlib.suppress(PolarsError):
            return source, held, dict(scan(source, held).collect_schema())
        source = _without_mark(source)  # which the parser takes for a part of the first row
    if held.kind == "CSV" and held.separator is None:
        line = scan(source, held, separator=_SEPARATES_NOTHING, quote_char=None).collect_schema()
        held = replace(held, separator=separator_in("".join(line)))
    return source, held, dict(scan(source, held).collect_schema())


def _without_mark(source: str | bytes) -> bytes:
    """The lines without the byte-order mark before the first; ValueError if there is none."""
    import polars as pl

    lines = pl.scan_lines(as_named(source), glob=False)
    if not lines.head(1).collect().item().startswith(_BYTE_ORDER_MARK):
        raise ValueError
    content = io.BytesIO()
    unmarked = lines.select(pl.col("line").str.strip_prefix(_BYTE_ORDER_MARK))
    unmarked.sink_csv(content, include_header=False, quote_style="never")
    return content.getvalue()


def _repeated(source: str | bytes, held: Format, names: list[str]) -> frozenset[str]:
    """The names that the first line of a CSV file has twice.

    The parser numbers all but the first, by names that other columns might have by right.
    """
    likely = [name for name in names if _numbered(name) in names]
    if held.kind != "CSV" or not likely:
        return frozenset()
    first = scan(source, held, has_header=False, n_rows=1, truncate_ragged_lines=True)
    row = first.collect().row(0)
    return frozenset(name for name in likely if _numbered(name) not in row)


def _numbered(name: str) -> str:
    return f"{name}_duplicated_0"


def _is_numbered(name: str, repeated: frozenset[str]) -> bool:
    return name.rpartition("_duplicated_")[0] in repeated


def _refuse_foreign(
    file: NamedFile, names: Iterable[str], convert: Callable[[], Cause | None]
) -> None:
    """Refuse a file whose first line shows that it is in another encoding, or is no text."""
    odd = any("\0" in n or "\ufffd" in n or n.startswith(_PARQUET) for n in names)
    if odd and (said := convert()):
        raise _foreign(file, said)


def _cannot_be_read(
    file: NamedFile, held: Format, convert: Callable[[], Cause | None], cause: Cause | None
) -> InputError:
    if held.kind != "Parquet" and (said := convert()):
        return _foreign(file, said)
    if cause is not None:
        return InputError(
            "{origin} cannot be read as {kind}: {cause}",
            "{remedy}, or give it the suffix of its format",
            origin=file.origin,
            kind=held.kind,
            cause=cause.rule,
            remedy=cause.remedy,
        )
    return InputError(
        "{origin} cannot be read as {kind}: it is cut short, damaged, or in another format",
        "Write it again, or give it the suffix of its format",
        origin=file.origin,
        kind=held.kind,
    )


def _foreign(file: NamedFile, said: Cause) -> InputError:
    return InputError(
        "{origin} {said}", "{remedy}", origin=file.origin, said=said.rule, remedy=said.remedy
    )


def _conversion(
    file: NamedFile, source: str | bytes, as_parquet: Words, *, encoding_is_given: bool
) -> Cause | None:
    if _is_parquet(source):
        return Cause(Words("is Parquet"), as_parquet)
    encoding = None if encoding_is_given else encoding_of(source)
    if encoding is None:
        return None
    return conversion(None if isinstance(source, bytes) else file.path, encoding)


def _begins_an_array(path: str) -> bool:
    """Whether it is by its name a file of objects, and by its content one array of JSON."""
    with contextlib.suppress(OSError):
        return path.lower().endswith((".ndjson", ".jsonl")) and _head(path, 9).strip()[:1] == b"["
    return False


def _is_parquet(source: str | bytes) -> bool:
    """Whether it begins as Parquet does: with four letters, and then with no text."""
    try:
        head = source[:5] if isinstance(source, bytes) else _head(source, 5)
    except OSError:
        return False
    return head[:4] == _PARQUET.encode() and not head[4:].decode("latin1").isprintable()


def _head(path: str, n: int) -> bytes:
    with Path(path).open("rb") as file:
        return file.read(n)
