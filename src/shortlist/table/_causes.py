"""Why a library could not read: told by the kind of its error, of which nothing is quoted."""

from __future__ import annotations

import re
from typing import NamedTuple

from shortlist.errors import Words

__all__ = ["Cause", "cause_of"]


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
