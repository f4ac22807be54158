"""What engines are asked in, by Ibis: names of columns that we make, and functions of engines."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, TypeAlias

from shortlist.databases.through_ibis import Expression, as_text, call, declared

__all__ = [
    "AMOUNT",
    "CODE",
    "HOLDERS",
    "PLACE",
    "RANK",
    "SIZE",
    "SUM",
    "USER",
    "VALUE",
    "Arrow",
    "Expression",
    "Key",
    "aggregate",
    "as_text",
    "call",
    "item_columns",
    "listed",
    "names_tables_alone",
    "numbered",
    "total",
    "united",
]

Arrow: TypeAlias = Any  # a table of PyArrow
Key: TypeAlias = tuple[int, int]  # fresh random bits, 62 in each

USER, CODE, SIZE = "u", "c", "t"
"""The columns of users' sets: the user, the item by its number, how many items the user has."""

_ITEM = "i"  # and the place of a column among those of an item

PLACE = "place"
"""The place of an item among those that are asked for."""

HOLDERS = "n"
"""How many users hold an item."""

SUM = "sum"
"""What users add to an item."""

RANK = "rank"
"""A place in an order."""

VALUE = "value"
"""What a user's number stands for."""

AMOUNT = "a"
"""What a user spent on an item, in steps."""


def item_columns(n: int) -> list[str]:
    return [f"{_ITEM}{place}" for place in range(n)]


def total(column: Expression) -> Expression:
    """The sum of whole numbers, in 64 bits: at most so many users add at most 2^32 each.

    Engines sum up in wider types. Ibis holds these for 64 bits too, and would leave the cast out.
    """
    return aggregate("sum", "decimal(38, 0)", column).cast("int64")


def aggregate(name: str, returned: str, column: Expression) -> Expression:
    """A function of the engine, by its own name, of many rows' values."""
    import ibis

    return declared(ibis.udf.agg, name, returned, (column,))(column)


def numbered(rows: Expression, name: str, by: str | None) -> Expression:
    """Rows numbered from 0 on as they come, or as a column rises: other engines need an order."""
    import ibis

    place = ibis.row_number()
    return rows.mutate((place if by is None else place.over(order_by=by)).name(name))


def listed(arrays: Expression) -> Expression:
    """As many rows for each one here as its arrays are long, if it has any."""
    if not any(dtype.is_array() for dtype in arrays.schema().values()):
        return arrays
    return arrays.select(
        **{
            name: arrays[name].unnest() if dtype.is_array() else arrays[name]
            for name, dtype in arrays.schema().items()
        }
    )


def names_tables_alone(rows: Expression) -> bool:
    """Whether all rows come from tables that Ibis names, by functions that always give the same."""
    from ibis.expr import operations as ops

    held = rows.op().find(ops.PhysicalTable)
    others = rows.op().find((ops.SQLQueryResult, ops.SQLStringView, ops.Impure))
    # Functions that we call give the same for the same; to Ibis no function does.
    others = [node for node in others if type(node).__module__ != declared.__module__]
    return bool(held) and not others and all(type(node) is ops.DatabaseTable for node in held)


def united(parts: Sequence[Expression]) -> Expression:
    """The rows of all tables, which have the same columns in any order."""
    first, *others = parts
    return reduce(lambda rows, part: rows.union(part.select(first.columns)), others, first)
