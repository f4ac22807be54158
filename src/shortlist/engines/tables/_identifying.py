"""Columns of users and items in an engine, as the types by which they are told apart.

The rule is that of `shortlist.table.key_types`, said in the engine's own words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shortlist.engines.tables._dialect import Dialect, Expression
from shortlist.errors import InputError
from shortlist.table.key_types import DIGITS

if TYPE_CHECKING:
    from shortlist.engines.tables.scratch import Scratch

__all__ = ["identified", "require_identified"]

_BITS = {2: 11, 4: 24, 8: 53}  # of the whole numbers that a float of so many bytes counts
_NO_KEY = 2**62  # more than any of these


def identified(rows: Expression, dialect: Dialect) -> Expression:
    """The rows with all columns as keys: texts, integers, dates or datetimes.

    Raises:
        InputError: The engine has no words for it; found without reading a row.
    """
    return rows.select(**{name: _key(rows[name], dialect) for name in rows.columns})


def require_identified(rows: Expression, scratch: Scratch) -> None:
    """Refuse rows in which a float identifies nothing.

    A row that comes later is no longer looked at: all such floats are one key then.
    """
    floats = [name for name, dtype in rows.schema().items() if dtype.is_floating()]
    keys = identified(rows.select(floats), scratch.dialect) if floats else None
    if keys is None:
        return
    found = scratch.fetch(keys.agg([keys.count(where=keys[n] == _NO_KEY).name(n) for n in floats]))
    if any(found[name][0] for name in floats):
        raise InputError(
            "a number in a column of users, items or groups identifies nothing: it has a fraction, "
            "is NaN, or is too large",
            "cast the column to integers or text. The row is private and not shown",
        )


def _key(column: Expression, dialect: Dialect) -> Expression:
    import ibis

    dtype = column.type()
    if dtype.is_boolean():
        return ibis.cases((column, "true"), (~column, "false"))
    if dtype.is_uuid():
        return column.cast("string")
    if dtype.is_binary():
        return dialect.digits(column)
    if dtype.is_decimal() and dtype.precision is not None and dtype.precision <= DIGITS:
        return column.cast("int64")
    return _whole(column, 2 ** _BITS[dtype.nbytes]) if dtype.is_floating() else column


def _whole(column: Expression, most: int) -> Expression:
    """A float as an integer, or `_NO_KEY` where it identifies nothing."""
    import ibis

    # No engine has an integer for what is too large, so that must not reach a cast. Engines order
    # NaN above all numbers. A null is in neither case, and stays one.
    size = column.abs()
    near = ibis.cases((size <= most, column), (size > most, 0.5))
    whole = ibis.cases((near == near.floor(), near), (near != near.floor(), float(_NO_KEY)))
    return whole.cast("int64")
