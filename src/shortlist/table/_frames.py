"""Frames of all libraries as parts; how each is read is that library's own affair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist.databases import postgres, sqlite
from shortlist.databases.connections import interruptible, lock_of, reopened_if_lost
from shortlist.databases.duckdb import interrupt_of, without_bar_of
from shortlist.databases.through_ibis import is_ibis
from shortlist.errors import InputError, Words, reference, shown
from shortlist.table._arrow import is_arrow, open_arrow
from shortlist.table.key_types import text_of
from shortlist.table.part import TablePart, attempt

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

_ACCEPTED = Words(
    "give a path, glob or directory of Parquet, CSV or NDJSON files, a list of paths, a Polars, "
    "pandas "
    "or PyArrow table, a dict of columns, or a lazy frame that narwhals takes"
)


def open_frame(data: object, argument: str) -> TablePart:
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
        accepted=_wrapped(native, argument) or _ACCEPTED,
    )
    if is_arrow(native):
        return attempt(lambda: open_arrow(native, origin), refusal)
    if isinstance(native, Mapping):
        return _open_mapping(native, origin, refusal)
    if is_ibis(native):
        native = attempt(lambda: _as_it_is_held(native), refusal)
    frame: Any = attempt(lambda: nw.from_native(native), refusal)
    refusal = InputError(
        "{origin} has no schema that can be read",
        "{accepted}",
        origin=origin,
        accepted=_ACCEPTED,
    )
    return attempt(lambda: _open_narwhals(frame, origin), refusal)


def _wrapped(data: object, argument: str) -> Words | None:
    """The line of Python that makes a table of data that is none; None if none is known."""
    line = next((line for is_it, line in _LINES if is_it(data)), None)
    return None if line is None else Words("give {line}", line=line.replace("data", argument))


def _first_is_a_row(data: object, kind: type | tuple[type, ...]) -> bool:
    return isinstance(data, list | tuple) and bool(data) and isinstance(data[0], kind)


def _ndim(data: object) -> int:
    return data.ndim if isinstance(data, np.ndarray) and data.dtype.names is None else 0


# Which data is made a table by which line. Each makes columns of lists, which are read as text,
# value by value: a library that looks for a type would let one value change how others are written.
_LINES: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (
        lambda data: isinstance(data, Counter),
        '{"item": list(data), "count": list(data.values())}',
    ),
    (
        lambda data: _first_is_a_row(data, Mapping),
        '{name: [row[name] for row in data] for name in ("user", "item")}',
    ),
    (
        lambda data: (
            _first_is_a_row(data, (tuple, list))
            or isinstance(data, AbstractSet | Iterator | ValuesView | ItemsView)
        ),
        'dict(zip(("user", "item"), zip(*data)))',
    ),
    (lambda data: _ndim(data) == 2, '{"user": data[:, 0], "item": data[:, 1]}'),
    (
        lambda data: isinstance(data, np.ndarray) and data.dtype.names is not None,
        "{name: data[name] for name in data.dtype.names}",
    ),
    (
        lambda data: hasattr(data, "reset_index") and not hasattr(data, "columns"),
        "data.reset_index()",
    ),
    (lambda data: type(data).__name__ == "Series" and hasattr(data, "to_frame"), "data.to_frame()"),
)


def _as_it_is_held(table: Any) -> Any:
    """A table of Ibis, with the types that its database gives to what it holds."""
    as_held = {"postgres": postgres.with_base_types, "sqlite": sqlite.with_values_apart}
    return as_held.get(table.get_backend().name, lambda table: table)(table)


def _origin(data: object, argument: str) -> Words:
    """How messages name it: a table of Ibis that has a name, by that."""
    if is_ibis(data):
        node: Any = data.op()  # type: ignore[attr-defined]  # Ibis is not required
        if type(node).__name__ == "DatabaseTable":
            return Words('the table "{name}"', name=shown(node.name))
    return Words("{argument} of type {kind}", argument=reference(argument), kind=type(data))


def _open_polars(frame: pl.DataFrame | pl.LazyFrame, origin: Words) -> TablePart:
    lazy = frame.lazy()
    refusal = InputError(
        "{origin} has no schema: its query fails", "Collect it to see why", origin=origin
    )
    schema = attempt(lazy.collect_schema, refusal)
    return TablePart(origin, origin, schema, lazy.select, held=frame)


def _open_mapping(columns: Mapping[Any, Any], origin: Words, refusal: InputError) -> TablePart:
    """A dict of columns: arrays and series keep their types, and lists are read as text.

    A list declares no type, and one found by looking might be decided by a single value.
    """
    import polars as pl

    if not all(isinstance(name, str) for name in columns) or not all(
        map(_is_column, columns.values())
    ):
        raise refusal
    unlike = InputError(
        "{origin}: the columns are not of one length, or a list holds a value that identifies "
        "nothing: neither text nor a whole number, a date, a UUID, a boolean or bytes",
        "fix it, or give arrays",
        origin=origin,
    )

    def column(name: str) -> pl.Series:
        if is_typed(values := columns[name]):
            return pl.Series(name, values)
        return pl.Series(name, list(map(text_of, values)), pl.String)

    def read(names: list[str]) -> pl.LazyFrame:
        return attempt(lambda: pl.LazyFrame([column(name) for name in names]), unlike)

    typed = {n: pl.Series(v[:0]).dtype for n, v in columns.items() if is_typed(v)}
    schema = {name: typed.get(name, pl.String()) for name in columns}
    return TablePart(origin, origin, schema, read, "dict", held=columns)


def is_typed(values: Any) -> bool:
    """Whether the type of the values is declared, and not found by looking at them."""
    dtype = getattr(values, "dtype", getattr(values, "type", None))
    return dtype is not None and str(dtype).lower() not in {"object", "o"}


def _is_column(values: object) -> bool:
    """Whether these are values, and no text or number that would stand in every row."""
    return hasattr(values, "__len__") and not isinstance(values, str | bytes | Mapping)


def _open_narwhals(frame: nw.DataFrame[Any] | nw.LazyFrame[Any], origin: Words) -> TablePart:
    import narwhals as nw

    native = frame.to_native()
    if frame.implementation.is_pandas_like() or frame.implementation.is_dask():
        return open_pandas_like(native, origin)
    kind = frame.implementation
    uuids = _uuids(native) if kind.is_duckdb() or kind.is_ibis() else {}
    schema = _schema(frame)

    def chosen(names: list[str]) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
        texts = [nw.col(name).cast(nw.String) for name in names if name in uuids]
        columns = frame.select(names)
        return columns.with_columns(*texts) if texts else columns

    def read(names: list[str]) -> pl.LazyFrame:
        columns = chosen(names)
        if isinstance(columns, nw.LazyFrame):
            return _asked(columns, native)
        return columns.to_polars().lazy()

    def check(names: list[str]) -> None:
        if isinstance(frame, nw.LazyFrame):
            # Ibis writes * for all columns: only a condition names them.
            _require_answer(lambda: chosen(names).drop_nulls().head(0), native, origin)

    return TablePart(origin, origin, schema | uuids, read, held=native, check=check)


def _asked(frame: nw.LazyFrame[Any], native: Any) -> pl.LazyFrame:
    wait = partial(interruptible, stop=interrupt_of(native))
    with lock_of(native), without_bar_of(native, wait):
        return wait(partial(_collected, frame))


def _require_answer(
    ask: Callable[[], Any],
    native: Any,
    origin: Words,
) -> None:
    """Refuse a table whose engine does not even answer a query of no row."""
    refusal = InputError(
        "{origin} cannot be read: its engine refuses the query, or does not answer",
        "check that the table is still there, has these columns, and may be read",
        origin=origin,
    )
    try:
        attempt(lambda: _asked(ask(), native), refusal)
    except InputError:
        if not attempt(lambda: reopened_if_lost(native), refusal):
            raise
        attempt(lambda: _asked(ask(), native), refusal)


def _schema(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> dict[str, pl.DataType]:
    """The types of all columns; one that Polars has not does not stand in the way of others."""
    import polars as pl

    def types(chosen: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> dict[str, pl.DataType]:
        return dict(chosen.collect_schema().to_polars())

    def type_of(name: str) -> pl.DataType:
        try:
            return types(frame.select(name))[name]
        except Exception:  # noqa: BLE001 - whatever a library says of such a type
            return pl.Unknown()

    try:
        return types(frame)
    except Exception:  # noqa: BLE001 - as above
        return {name: type_of(name) for name in frame.columns}


def _collected(frame: nw.LazyFrame[Any]) -> pl.LazyFrame:
    return frame.collect("polars").to_polars().lazy()


def _uuids(native: Any) -> dict[str, pl.DataType]:
    """The columns of a relation or a table of Ibis that hold UUIDs; they are read as text."""
    import polars as pl

    if hasattr(native, "types"):
        types = {name: str(dtype) for name, dtype in zip(native.columns, native.types, strict=True)}
    else:
        types = {name: str(dtype.copy(nullable=True)) for name, dtype in native.schema().items()}
    return {name: pl.String() for name, dtype in types.items() if dtype.lower() == "uuid"}


def open_pandas_like(frame: Any, origin: Words) -> TablePart:
    """A frame of pandas, Modin, cuDF or Dask: its columns and the named levels of its index.

    A column of Python objects has that type and no other: what the first hundred of them are,
    as other libraries look, need not be true of the rest.
    """
    import narwhals as nw
    import polars as pl

    is_lazy = hasattr(frame, "compute")  # a frame of Dask
    empty = frame if is_lazy else _with_levels(frame.head(0), _levels(frame))
    schema = dict(nw.from_native(empty).collect_schema().to_polars())
    objects = {name: pl.Object() for name in schema if _is_of_objects(empty.dtypes[name])}

    def read(names: list[str]) -> pl.LazyFrame:
        levels = [name for name in names if name not in frame.columns]
        chosen = frame[[name for name in names if name not in levels]]
        chosen = chosen.compute() if is_lazy else _with_levels(chosen, levels)
        return pl.LazyFrame([_column(chosen[name]) for name in names])

    return TablePart(origin, origin, schema | objects, read, held=frame)


def _levels(frame: Any) -> list[str]:
    return [name for name in frame.index.names if name is not None and name not in frame.columns]


def _with_levels(frame: Any, levels: list[str]) -> Any:
    return frame.reset_index(level=levels) if levels else frame


def _is_of_objects(dtype: Any) -> bool:
    """Whether the values, or the categories that they are of, are Python objects."""
    categories = getattr(dtype, "categories", None)
    return bool((dtype if categories is None else categories.dtype) == object)  # noqa: E721 - no type


def _column(values: Any) -> pl.Series:
    """The values as Polars has them; objects that are not all strings or dates stay objects."""
    import narwhals as nw
    import polars as pl

    def converted() -> pl.Series:
        column: pl.Series = nw.from_native(values, series_only=True).to_polars()
        return column

    if not _is_of_objects(values.dtype):
        return converted()
    values = values.astype(object)
    try:
        if (column := converted()).dtype in (pl.String, pl.Null, pl.Date):
            return column
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001, S110 - they are of several types
        pass
    held = values.where(values.notna(), None).tolist()
    return pl.Series(values.name, held, dtype=pl.Object)
