"""One file or frame, opened as far as its schema, and why it could not be read.

The cause is told by the kind of a library's error, of which nothing is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from shortlist.errors import InputError, Words, has_failed, lacks_memory
from shortlist.table.formats import Writing

if TYPE_CHECKING:
    import polars as pl

_T = TypeVar("_T")


class Cause(NamedTuple):
    """What is wrong, and what to do."""

    rule: Words
    remedy: Words


_CAUSES = {
    r"permission denied|os error 13\b": Cause(
        Words("it may not be read any more"), Words("check its permissions")
    ),
    r"no such file|os error 2\b": Cause(
        Words("it is no longer there"), Words("do not move files while they are read")
    ),
    r"range\.end": Cause(
        Words("it was changed while it was open"), Words("do not change files while they are read")
    ),
    r"deflate|gzip|zstd|zlib|snappy|lz4|brotli|decompress|unexpected end of file": Cause(
        Words("its compressed content is cut short or damaged"), Words("fetch it or write it again")
    ),
    r"surrogate|unicodecodepoint": Cause(
        Words(
            "a text in it holds half of a character, an escape such as \\ud83d without the other "
            "half, or NUL"
        ),
        Words("write whole characters"),
    ),
    r"codec can't decode|UTF-16 stream": Cause(
        Words("a part of it is not in the encoding that was given"), Words("check {encoding}")
    ),
    r"utf-?8": Cause(Words("a text in it is not UTF-8"), Words("convert it to UTF-8")),
    r"out of specification|^parquet|thrift|must end with par1": Cause(
        Words("it is cut short or damaged"), Words("fetch it or write it again")
    ),
    r"more fields|could not parse|parsing|quot": Cause(
        Words("a row cannot be parsed"),
        Words("check that all rows have the same fields and quotes"),
    ),
    r"conversion from .?f\d+.? to .?i64": Cause(
        Words("a number in it identifies nothing: it has a fraction, is NaN, or is too large"),
        Words("cast the column to integers or text"),
    ),
    r"year 10k|before year 1\b|year -?\d+ is out of range": Cause(
        Words("a date or time in it lies outside of the years 1 to 9999, or is infinite"),
        Words("cast the column to text"),
    ),
    r"conversion|casting|data ?type|dtype|schema": Cause(
        Words("a value is of another type than its column"), Words("write the column with one type")
    ),
}


def cause_of(error: BaseException) -> Cause | None:
    """The cause, if it can be told. The words of the error may quote rows, and are dropped.

    >>> str(cause_of(OSError("corrupt deflate stream")).rule), cause_of(ValueError("Zoe, 41"))
    ('its compressed content is cut short or damaged', None)
    """
    words = f"{type(error).__name__} {error}" if isinstance(error, OSError) else str(error)
    for pattern, cause in _CAUSES.items():
        if re.search(pattern, words, re.IGNORECASE):
            return cause
    return None


@dataclass(frozen=True)
class TablePart:
    """One file or frame.

    Attributes:
        argument: What the caller wrote, as in data="plays-*.csv".
        origin: The file or frame, in a message.
        schema: The types of all its columns. Python objects are read as text.
        read: A lazy frame of the named columns.
        kind: "Parquet", "CSV", "NDJSON", "frame", or "dict".
        repeated: The names that its first line has twice.
        categories: The types of what its columns of categories hold, where they are known.
        held: The object that the caller gave, of a frame.
        files: The paths of the files that are read, as far as they are known.
        places: Where these are, whatever folder one works in later; none if that is not known.
        conversion: If its text is in another encoding than UTF-8, which, and how to convert it.
        writing: How the caller said that text is written.
        separator: What stands between its fields, if it is CSV.
        encoding: What its text is written in, where the caller said so.
        is_divided: Whether it has a column that its folder is named by.
        check: Refuses, without reading a row, named columns that could not be read any more.
    """

    argument: Words
    origin: Words
    schema: Mapping[str, pl.DataType]
    read: Callable[[list[str]], pl.LazyFrame]
    kind: str = "frame"
    repeated: frozenset[str] = frozenset()
    categories: Mapping[str, pl.DataType] = field(default_factory=dict)
    held: object = None
    files: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    conversion: Callable[[], Cause | None] = field(default=lambda: None)
    writing: Writing = field(default=Writing())
    separator: str | None = None
    encoding: str | None = None
    is_divided: bool = False
    check: Callable[[list[str]], object] = field(default=lambda _: None)

    @property
    def is_file(self) -> bool:
        """Whether its rows are read as its schema says, or not at all."""
        return self.kind in {"Parquet", "CSV", "NDJSON"}

    @property
    def is_text(self) -> bool:
        """Whether it declares no types, and perhaps no names."""
        return self.kind in {"CSV", "NDJSON"}


def origin_of(parts: list[TablePart]) -> Words:
    """The one file or frame, or what the caller wrote for several."""
    return parts[0].origin if len(parts) == 1 else parts[0].argument


def attempt(
    action: Callable[[], _T], refusal: InputError | Callable[[Cause | None], InputError]
) -> _T:
    """What the action returns; where a library fails, the refusal instead of its error.

    The refusal, or what is made of the cause, is raised after the library's error is gone: not even
    its context quotes a cell. MemoryError stays one: the table is not damaged.
    """
    try:
        return action()
    except BaseException as error:
        ours = isinstance(error, InputError | MemoryError)
        if ours or not has_failed(error):
            raise
        short, cause = lacks_memory(error), cause_of(error)
    if short:
        raise MemoryError("there is not enough memory.")
    raise refusal if isinstance(refusal, InputError) else refusal(cause)
