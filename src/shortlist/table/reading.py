"""Files and data frames of many kinds, each as parts with a schema and a way to read columns.

Reading is left to libraries. Their own errors quote cells and are replaced by errors that do not.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from shortlist.errors import InputError, lacks_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    import narwhals as nw
    import polars as pl

__all__ = ["SUFFIXES", "Part", "attempt", "exists", "open_frame", "open_parts", "rows_of"]

_T = TypeVar("_T")

SUFFIXES = (".parquet", ".csv", ".ndjson", ".jsonl")
_ACCEPTED = (
    "a path or glob of Parquet, CSV or NDJSON files, a Polars, pandas or PyArrow table, "
    "or a lazy frame that narwhals takes"
)


@dataclass(frozen=True)
class Part:
    """One file or frame.

    Attributes:
        argument: What the caller wrote, as in data="plays-*.csv".
        origin: The file or frame, in a message.
        schema: The types of all its columns.
        read: A lazy frame of the named columns.
        kind: "Parquet", "CSV", "NDJSON", or "frame".
    """

    argument: str
    origin: str
    schema: Mapping[str, pl.DataType]
    read: Callable[[list[str]], pl.LazyFrame]
    kind: str = "frame"

    @property
    def is_text(self) -> bool:
        """Whether it declares no types, and perhaps no names."""
        return self.kind in {"CSV", "NDJSON"}


def rows_of(parts: list[Part], types: Mapping[str, pl.DataType]) -> pl.LazyFrame:
    """The named columns of all parts, one below the other, cast to `types`."""
    import polars as pl

    columns = [pl.col(name).cast(dtype) for name, dtype in types.items()]
    return pl.concat([part.read(list(types)).select(columns) for part in parts])


def open_parts(data: object, argument: str) -> list[Part]:
    """The files of a path or glob, or the one frame, opened as far as their schema.

    Args:
        data: As in `shortlist.pairs`.
        argument: The name of the argument, for messages.

    Raises:
        InputError: There is no such file, or it is no table.
    """
    if isinstance(data, str | os.PathLike):
        path = os.fspath(data)
        if isinstance(path, bytes):
            raise InputError(f"{argument}={path!r} is bytes; give the path as a string.")
        if "://" in path:  # it may hold a password
            raise InputError(
                f"{argument}: this is a URL, and a path is needed; a table of counts in a database "
                "is asked by sl.store."
            )
        return [_open_file(file, argument, path) for file in _files(path, argument)]
    return [open_frame(data, argument)]


def _files(path: str, argument: str) -> list[str]:
    if exists(path) or not glob.has_magic(path):
        return [path]
    files = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - Path.glob takes no absolute one
    if not files:
        raise InputError(f'{argument}="{path}" matches no file; check the pattern.')
    return files


def _open_file(file: str, argument: str, given: str) -> Part:
    import polars as pl

    written = f'{argument}="{given}"'
    origin = written if file == given else f'{written}: the file "{file}"'
    _check_file(file, origin)
    suffix = Path(file).suffix.lower()
    if suffix not in SUFFIXES:
        ending = f'the suffix "{suffix}"' if suffix else "no suffix"
        raise InputError(
            f"{origin} has {ending}, which is not read; use one of {', '.join(SUFFIXES)}."
        )
    kind = {".parquet": "Parquet", ".csv": "CSV"}.get(suffix, "NDJSON")
    refusal = (
        f"{origin} cannot be read as {kind}: it is cut short, damaged, or in another format. "
        "Write it anew, or give it the suffix of its format."
    )
    names = attempt(lambda: _scan(file, kind).collect_schema(), refusal)
    schema = names if kind == "Parquet" else dict.fromkeys(names, pl.String())

    def read(names: list[str]) -> pl.LazyFrame:
        rows = _scan(file, kind, names).select(names)
        if rows.collect_schema() != {name: schema[name] for name in names}:
            raise InputError(f"{origin} has changed since it was opened; open it again.")
        return rows

    return Part(written, origin, schema, read, kind)


def exists(file: str) -> bool:
    """Whether there is a file of that name; False for a text that can be none."""
    return os.path.exists(file)  # noqa: PTH110 - Path.exists fails on long texts


def _check_file(file: str, origin: str) -> None:
    if not exists(file):
        raise InputError(f"{origin} does not exist; check the path.")
    path = Path(file)
    if path.is_dir():
        raise InputError(f"{origin} is a directory; name its files, for example by a glob.")
    if not os.access(path, os.R_OK):
        raise InputError(f"{origin} may not be read; check its permissions.")
    if not path.is_file():
        raise InputError(f"{origin} is not a regular file; write the table to one.")
    if path.stat().st_size == 0:
        raise InputError(f"{origin} is empty, without even a header; write the file anew.")


def _scan(file: str, kind: str, names: list[str] | None = None) -> pl.LazyFrame:
    """The file as a lazy frame; files that declare no types are read as text.

    Types found by looking at the rows would let one row change the type of what is released.
    """
    import polars as pl

    if kind == "Parquet":
        return pl.scan_parquet(file, glob=False, hive_partitioning=False)
    if kind == "CSV":
        return pl.scan_csv(file, glob=False, infer_schema=False, null_values="")
    if names is None:  # the columns are those of the first line
        return pl.scan_ndjson(glob.escape(file), infer_schema_length=1)
    return pl.scan_ndjson(glob.escape(file), schema=dict.fromkeys(names, pl.String()))


def open_frame(data: object, argument: str) -> Part:
    """A data frame of any library that narwhals knows, opened as far as its schema."""
    import narwhals as nw
    import polars as pl

    written = f"{argument} (a {type(data).__name__})"
    if isinstance(data, pl.DataFrame | pl.LazyFrame):
        lazy = data.lazy()
        refusal = f"{written} has no schema: its query fails. Collect it to see why."
        schema = attempt(lazy.collect_schema, refusal)
        return Part(written, written, schema, lazy.select)
    refusal = f"{written} is not a table of columns with different names; give {_ACCEPTED}."
    frame: Any = attempt(lambda: nw.from_native(data), refusal)
    refusal = f"{written} has no schema that can be read; give {_ACCEPTED}."
    return attempt(lambda: _open_narwhals(frame, written), refusal)


def _open_narwhals(frame: nw.DataFrame[Any] | nw.LazyFrame[Any], written: str) -> Part:
    import narwhals as nw

    schema = frame.collect_schema().to_polars()

    def read(names: list[str]) -> pl.LazyFrame:
        chosen = frame.select(names)
        if isinstance(chosen, nw.LazyFrame):
            chosen = chosen.collect("polars")
        return chosen.to_polars().lazy()

    return Part(written, written, schema, read)


def attempt(action: Callable[[], _T], refusal: str) -> _T:
    """What the action returns; where a library fails, the refusal instead of its error.

    The refusal is raised after the library's error is gone: not even its context quotes a cell.

    Raises:
        MemoryError: The library failed for want of memory; the table is not damaged.
    """
    from polars.exceptions import PanicException

    try:
        return action()
    except BaseException as error:
        ours = isinstance(error, InputError | MemoryError)
        if ours or not isinstance(error, Exception | PanicException):
            raise
        short = lacks_memory(error)
    if short:
        raise MemoryError("there is not enough memory.")
    raise InputError(refusal)
