"""Tables, batches, readers and datasets of PyArrow."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from shortlist.errors import InputError, Words
from shortlist.table.part import TablePart

if TYPE_CHECKING:
    import polars as pl

_KINDS = {
    "pyarrow": ("Table", "RecordBatch", "RecordBatchReader"),
    "pyarrow.dataset": ("Dataset",),
}


def is_arrow(data: object) -> bool:
    """Whether this is an object of PyArrow; there is none before PyArrow was imported."""
    return isinstance(data, _types("pyarrow") + _types("pyarrow.dataset"))


def _types(module: str) -> tuple[type, ...]:
    loaded = sys.modules.get(module)
    return tuple(getattr(loaded, name) for name in _KINDS[module]) if loaded else ()


def open_arrow(data: Any, origin: Words) -> TablePart:
    """A table, a batch, a reader or a dataset, opened as far as its schema.

    ValueError, if two columns have the same name.
    """
    import polars as pl

    names = data.schema.names
    if len(set(names)) < len(names):
        raise ValueError
    uuids = {field.name for field in data.schema if _is_uuid(field.type)}
    types = {name: pl.String() if name in uuids else _type(data.schema, name) for name in names}
    categories = {name: types[name] for name in names if _is_dictionary(data.schema, name)}
    has_been_read = False

    def read(names: list[str]) -> pl.LazyFrame:
        nonlocal has_been_read
        if has_been_read and _comes_once(data):
            raise InputError(
                "{origin} can be read only once, and it has been read",
                "make a new one",
                origin=origin,
            )
        has_been_read = True
        frame = pl.DataFrame(_without_extensions(_table(data, names), uuids))
        return frame.lazy().with_columns(_as_text(name) for name in names if name in uuids)

    return TablePart(
        origin,
        origin,
        types | dict.fromkeys(categories, pl.Categorical()),
        read,
        categories=categories,
        held=data,
        files=tuple(getattr(data, "files", ())),  # of a dataset
    )


def _is_uuid(dtype: Any) -> bool:
    return getattr(dtype, "extension_name", None) == "arrow.uuid"


def _is_dictionary(schema: Any, name: str) -> bool:
    return hasattr(schema.field(name).type, "index_type")


def _type(schema: Any, name: str) -> pl.DataType:
    import polars as pl

    try:
        return pl.DataFrame(schema.empty_table().select([name])).schema[name]
    except Exception:  # noqa: BLE001 - a type that Polars has not, of a column that is not needed
        return pl.Unknown()


def _comes_once(data: Any) -> bool:
    return hasattr(data, "read_next_batch")


def _table(data: Any, names: list[str]) -> Any:
    """The named columns; of a reader they alone are kept."""
    import pyarrow as pa

    if isinstance(data, pa.Table):
        return data.select(names)
    if hasattr(data, "to_table"):  # a dataset
        return data.to_table(columns=names)
    batches = data if _comes_once(data) else [data]
    schema = pa.schema([data.schema.field(name) for name in names])
    return pa.Table.from_batches((batch.select(names) for batch in batches), schema)


def _without_extensions(table: Any, uuids: set[str]) -> Any:
    """The table with the bytes of UUIDs, of which libraries take different views."""
    import pyarrow as pa

    for place, name in enumerate(table.column_names):
        if name in uuids:
            held = table.column(place)
            chunks = [chunk.storage for chunk in held.chunks]
            table = table.set_column(place, name, pa.chunked_array(chunks, held.type.storage_type))
    return table


def _as_text(name: str) -> pl.Expr:
    # As UUIDs are usually written, in 8-4-4-4-12 digits.
    import polars as pl

    digits = pl.col(name).bin.encode("hex")
    groups = ((0, 8), (8, 4), (12, 4), (16, 4), (20, 12))
    return pl.concat_str([digits.str.slice(*group) for group in groups], separator="-").alias(name)
