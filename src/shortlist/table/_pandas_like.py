"""Frames of pandas, and of libraries made like it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shortlist.errors import Words
from shortlist.table.part import Part

if TYPE_CHECKING:
    import polars as pl

__all__ = ["open_pandas_like"]


def open_pandas_like(frame: Any, origin: Words) -> Part:
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

    return Part(origin, origin, schema | objects, read, held=frame)


def _levels(frame: Any) -> list[str]:
    """The names of the index that no column has."""
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
