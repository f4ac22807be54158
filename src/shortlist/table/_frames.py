"""Frames of all libraries as parts; how each is read is that library's own affair."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from shortlist.errors import InputError, Words, reference, shown
from shortlist.table._arrow import is_arrow, open_arrow
from shortlist.table._objects import text_of
from shortlist.table._pandas_like import open_pandas_like
from shortlist.table.interrupting import interrupt_of, interruptible, without_bar_of
from shortlist.table.part import Part, attempt

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

__all__ = ["open_frame"]

_ACCEPTED = Words(
    "give a path, glob or directory of Parquet, CSV or NDJSON files, a list of paths, a Polars, "
    "pandas "
    "or PyArrow table, a dict of columns, or a lazy frame that narwhals takes"
)


def open_frame(data: object, argument: str) -> Part:
    """A data frame of any library that narwhals knows, opened as far as its schema."""
    import narwhals as nw
    import polars as pl

    native = nw.to_native(data, pass_through=True)
    origin = _origin(data, argument)
    if isinstance(native, pl.DataFrame | pl.LazyFrame):
        return _open_polars(native, origin)
    refusal = InputError(
        "{origin} is not a table of columns with different names",
        "{accepted}",
        origin=origin,
        accepted=_ACCEPTED,
    )
    if is_arrow(native):
        return attempt(lambda: open_arrow(native, origin), refusal)
    if isinstance(native, Mapping):
        return _open_mapping(native, origin, refusal)
    frame: Any = attempt(lambda: nw.from_native(native), refusal)
    refusal = InputError(
        "{origin} has no schema that can be read",
        "{accepted}",
        origin=origin,
        accepted=_ACCEPTED,
    )
    return attempt(lambda: _open_narwhals(frame, origin), refusal)


def _origin(data: object, argument: str) -> Words:
    """How messages name it: a table of Ibis that has a name, by that."""
    if type(data).__module__.startswith("ibis.") and type(data).__name__ == "Table":
        node: Any = data.op()  # type: ignore[attr-defined]  # Ibis is not required
        if type(node).__name__ == "DatabaseTable":
            return Words('the table "{name}"', name=shown(node.name))
    return Words("{argument} of type {kind}", argument=reference(argument), kind=type(data))


def _open_polars(frame: pl.DataFrame | pl.LazyFrame, origin: Words) -> Part:
    lazy = frame.lazy()
    refusal = InputError(
        "{origin} has no schema: its query fails", "Collect it to see why", origin=origin
    )
    schema = attempt(lazy.collect_schema, refusal)
    return Part(origin, origin, schema, lazy.select, held=frame)


def _open_mapping(columns: Mapping[Any, Any], origin: Words, refusal: InputError) -> Part:
    """A dict of columns: arrays and series keep their types, and lists are read as text.

    A list declares no type, and one found by looking might be decided by a single value.
    """
    import polars as pl

    if not all(isinstance(name, str) for name in columns) or not all(
        map(_is_column, columns.values())
    ):
        raise refusal
    unlike = InputError(
        "{origin}: the columns are not of one length, or a list holds a value that is neither text "
        "nor a whole number nor a date nor a UUID",
        "fix it, or give arrays",
        origin=origin,
    )

    def column(name: str) -> pl.Series:
        if _is_typed(values := columns[name]):
            return pl.Series(name, values)
        return pl.Series(name, [text_of(value, whole=True) for value in values], pl.String)

    def read(names: list[str]) -> pl.LazyFrame:
        return attempt(lambda: pl.LazyFrame([column(name) for name in names]), unlike)

    typed = {n: pl.Series(v[:0]).dtype for n, v in columns.items() if _is_typed(v)}
    schema = {name: typed.get(name, pl.String()) for name in columns}
    return Part(origin, origin, schema, read, "dict", held=columns)


def _is_typed(values: Any) -> bool:  # noqa: ANN401 - of any library
    """Whether the type of the values is declared, and not found by looking at them."""
    dtype = getattr(values, "dtype", getattr(values, "type", None))
    return dtype is not None and str(dtype).lower() not in {"object", "o"}


def _is_column(values: object) -> bool:
    """Whether these are values, and no text or number that would stand in every row."""
    return hasattr(values, "__len__") and not isinstance(values, str | bytes | Mapping)


def _open_narwhals(frame: nw.DataFrame[Any] | nw.LazyFrame[Any], origin: Words) -> Part:
    import narwhals as nw

    native = frame.to_native()
    if frame.implementation.is_pandas_like() or frame.implementation.is_dask():
        return open_pandas_like(native, origin)
    uuids = _uuids(native) if frame.implementation.is_duckdb() else {}
    schema = dict(frame.collect_schema().to_polars())

    stop = interrupt_of(native)

    def read(names: list[str]) -> pl.LazyFrame:
        texts = [nw.col(name).cast(nw.String) for name in names if name in uuids]
        chosen = frame.select(names)
        if texts:
            chosen = chosen.with_columns(*texts)
        if isinstance(chosen, nw.LazyFrame):
            with without_bar_of(native):
                return interruptible(partial(_collected, chosen), stop)
        return chosen.to_polars().lazy()

    return Part(origin, origin, schema | uuids, read, held=native)


def _collected(frame: nw.LazyFrame[Any]) -> pl.LazyFrame:
    return frame.collect("polars").to_polars().lazy()


def _uuids(native: Any) -> dict[str, pl.DataType]:  # noqa: ANN401 - DuckDB is not required
    """The columns of a relation of DuckDB that hold UUIDs; they are read as text."""
    import polars as pl

    types = zip(native.columns, native.types, strict=True)
    return {name: pl.String() for name, dtype in types if str(dtype) == "UUID"}
