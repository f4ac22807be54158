"""Which format a file has, and how Polars reads one of it."""

from __future__ import annotations

import codecs
import glob
import io
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from shortlist.errors import InputError

if TYPE_CHECKING:
    import polars as pl

_KINDS = {
    ".parquet": "Parquet",
    ".csv": "CSV",
    ".ndjson": "NDJSON",
    ".jsonl": "NDJSON",
    ".tsv": "CSV",
    ".txt": "CSV",
}
_COMPRESSIONS = (".gz", ".zst")
_SEPARATORS = (",", ";", "|")  # where they are equally many, the first
READABLE = f"{', '.join(_KINDS)}; all but .parquet also with {' or '.join(_COMPRESSIONS)} behind it"
"""The suffixes of files that are read, for messages."""

HERE = "file"
ELSEWHERE = (
    *("s3", "s3a", "s3n", "r2", "gs", "gcs", "http", "https", "hf", "hdfs", "ftp", "sftp"),
    *("az", "azure", "abfs", "abfss", "adl"),
)
"""What a URL of a file, and of no database, begins with."""


@dataclass(frozen=True)
class Format:
    """How a file is to be read.

    Attributes:
        kind: "Parquet", "CSV" or "NDJSON".
        separator: Of CSV, what stands between the fields; None if the first line is to tell.
    """

    kind: str
    separator: str | None = None


@dataclass(frozen=True)
class Writing:
    """How the caller says that text files are written; None for what is to be found out.

    Attributes:
        separator: What stands between the fields of CSV files whose suffix does not say it.
        encoding: The encoding, by a name that Python knows.

    Raises:
        InputError: One cannot be used.
    """

    separator: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        _check_separator(self.separator)
        if self.encoding is not None:
            _check_encoding(self.encoding)

    @property
    def codec(self) -> str | None:
        """The encoding that text is to be converted from; None where there is nothing to do."""
        found = None if self.encoding is None else codecs.lookup(self.encoding).name
        return None if found in ("utf-8", "utf-8-sig", "ascii") else found


def is_of_file(url: str) -> bool:
    """Whether it is the URL of a file, and not of a database.

    >>> is_of_file("s3://plays/2026.parquet"), is_of_file("postgresql://host/plays")
    (True, False)
    """
    return url.partition("://")[0].lower() in (HERE, *ELSEWHERE)


def has_known_suffix(file: str) -> bool:
    """Whether the name ends as that of a file that is read.

    >>> has_known_suffix("plays.CSV.gz"), has_known_suffix("plays.parquet.gz")
    (True, False)
    """
    return _suffix(file) is not None


def _suffix(file: str) -> str | None:
    *_, last = ["", *PurePath(file.lower()).suffixes]
    if last not in _COMPRESSIONS:
        return last if last in _KINDS else None
    inner = PurePath(file.lower()).with_suffix("").suffix
    return inner if inner in _KINDS.keys() - {".parquet"} else None


def format_of(file: str, separator: str | None) -> Format | None:
    """The format by the file's suffix, or None if it is not known."""
    suffix = _suffix(file)
    return None if suffix is None else format_by_suffix(suffix, separator)


def format_by_suffix(suffix: str, separator: str | None) -> Format:
    """The format that goes with a suffix of a table."""
    return Format(_KINDS[suffix], "\t" if suffix == ".tsv" else separator)


def separator_in(first_line: str) -> str:
    """What stands between the fields, as far as the first line tells it: the names of columns.

    >>> separator_in("user;item"), separator_in('user,"a;b;c"'), separator_in("user")
    (';', ',', ',')
    """
    outside = "".join(first_line.split('"')[::2])  # of quotes, in which names may hold anything
    # A name may have commas in it, but hardly a tab.
    return "\t" if "\t" in outside else max(_SEPARATORS, key=outside.count)


def _check_encoding(encoding: object) -> None:
    try:
        known = isinstance(encoding, str) and codecs.lookup(encoding)._is_text_encoding  # noqa: SLF001 - nothing else tells it
    except (LookupError, ValueError):
        known = False
    if not known:
        raise InputError(
            "must be the name of an encoding of text, such as latin1, cp1252 or utf-16",
            given={"encoding": encoding},
        )


def _check_separator(separator: object) -> None:
    if separator is None:
        return
    usable = isinstance(separator, str) and len(separator) == 1 and separator.isascii()
    if not usable or separator in '"\r\n\0':  # type: ignore[operator]
        raise InputError(
            'must be one ASCII character that can stand between fields, such as ";" or "\\t"',
            given={"separator": separator},
        )


def scan(
    source: str | bytes,
    held: Format,
    names: list[str] | None = None,
    **options: Any,
) -> pl.LazyFrame:
    """The rows as a lazy frame; files that declare no types are read as text.

    Types found by looking at the rows would let one row change the type of what is released.

    Args:
        source: The name of the file, or its content.
        held: Its format.
        names: Of NDJSON, the columns; None for those of the first line.
        options: Of CSV.
    """
    import polars as pl

    if held.kind == "Parquet":
        return pl.scan_parquet(as_named(source), glob=False, hive_partitioning=False)
    if held.kind == "CSV":
        options = {"separator": held.separator or ","} | options
        return pl.scan_csv(
            as_named(source), glob=False, infer_schema=False, null_values="", **options
        )
    source = glob.escape(source) if isinstance(source, str) else source
    if names is None:  # the columns are those of the first line
        return pl.scan_ndjson(as_named(source), infer_schema_length=1)
    rows = pl.scan_ndjson(as_named(source), schema=dict.fromkeys(names, pl.String()))
    texts = pl.col(names).map_batches(_of_whole_characters, pl.String, is_elementwise=True)
    # The parser writes numbers by their values, 7.0 as 7, but keeps the sign of -0.0.
    return rows.with_columns(texts.replace("-0", "0"))


def _of_whole_characters(texts: pl.Series) -> pl.Series:
    """The same texts; UnicodeError if one may have been written with half of a character."""
    # The parser reads any lone surrogate as NUL, so that all of them would be one.
    if texts.str.contains("\0", literal=True).any():
        raise UnicodeError("lone surrogate")
    return texts


def as_named(source: str | bytes) -> str | io.BytesIO:
    """The source as Polars takes it: bare bytes might be the name of a file."""
    return source if isinstance(source, str) else io.BytesIO(source)
