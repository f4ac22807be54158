"""Which format a file has, and how Polars reads one of it."""

from __future__ import annotations

import glob
import io
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from shortlist.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "READABLE",
    "Format",
    "as_named",
    "check_separator",
    "format_by_suffix",
    "format_of",
    "has_known_suffix",
    "scan",
]

_KINDS = {
    ".parquet": "Parquet",
    ".csv": "CSV",
    ".ndjson": "NDJSON",
    ".jsonl": "NDJSON",
    ".tsv": "CSV",
    ".txt": "CSV",
}
_COMPRESSIONS = (".gz", ".zst")
READABLE = f"{', '.join(_KINDS)}; all but .parquet also with {' or '.join(_COMPRESSIONS)} behind it"
"""The suffixes of files that are read, for messages."""


@dataclass(frozen=True)
class Format:
    """How a file is to be read.

    Attributes:
        kind: "Parquet", "CSV" or "NDJSON".
        separator: Of CSV, what stands between the fields; None if the first line is to tell: tabs
            if it holds one, commas otherwise.
    """

    kind: str
    separator: str | None = ","


def has_known_suffix(file: str) -> bool:
    """Whether the name ends as that of a file that is read.

    >>> has_known_suffix("plays.CSV.gz"), has_known_suffix("plays.parquet.gz")
    (True, False)
    """
    return _suffix(file) is not None


def _suffix(file: str) -> str | None:
    """The suffix that says what is in the file, without that of its compression."""
    *_, last = ["", *PurePath(file.lower()).suffixes]
    if last not in _COMPRESSIONS:
        return last if last in _KINDS else None
    inner = PurePath(file.lower()).with_suffix("").suffix
    return inner if inner in _KINDS.keys() - {".parquet"} else None


def format_of(file: str, separator: str | None) -> Format | None:
    """The format by the file's suffix, or None if it is not known.

    Args:
        file: The name of the file.
        separator: As the caller gave it, for files whose suffix does not say one.
    """
    suffix = _suffix(file)
    return None if suffix is None else format_by_suffix(suffix, separator)


def format_by_suffix(suffix: str, separator: str | None) -> Format:
    """The format that goes with a suffix of a table."""
    given = {".csv": separator or ",", ".txt": separator, ".tsv": "\t"}
    return Format(_KINDS[suffix], given.get(suffix))


def check_separator(separator: object) -> str | None:
    """The separator, if it is one character that can stand between fields."""
    if separator is None:
        return None
    usable = isinstance(separator, str) and len(separator) == 1 and separator.isascii()
    if not usable or separator in '"\r\n\0':  # type: ignore[operator]
        raise InputError(
            'must be one ASCII character that can stand between fields, such as ";" or "\\t"',
            given={"separator": separator},
        )
    return str(separator)


def scan(
    source: str | bytes,
    held: Format,
    names: list[str] | None = None,
    **options: Any,  # noqa: ANN401 - of the parser
) -> pl.LazyFrame:
    """The rows as a lazy frame; files that declare no types are read as text.

    Types found by looking at the rows would let one row change the type of what is released.

    Args:
        source: The name of the file, or its content.
        held: Its format.
        names: Of NDJSON, the columns; those of the first line if None.
        options: Of CSV, more of how it is parsed.
    """
    import polars as pl

    if held.kind == "Parquet":
        return pl.scan_parquet(as_named(source), glob=False, hive_partitioning=False)
    if held.kind == "CSV":
        separator = held.separator or ","
        return pl.scan_csv(
            as_named(source),
            glob=False,
            infer_schema=False,
            null_values="",
            separator=separator,
            **options,
        )
    source = glob.escape(source) if isinstance(source, str) else source
    if names is None:  # the columns are those of the first line
        return pl.scan_ndjson(as_named(source), infer_schema_length=1)
    return pl.scan_ndjson(as_named(source), schema=dict.fromkeys(names, pl.String()))


def as_named(source: str | bytes) -> str | io.BytesIO:
    """The source as Polars takes it: bare bytes might be the name of a file."""
    return source if isinstance(source, str) else io.BytesIO(source)
