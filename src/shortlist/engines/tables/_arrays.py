"""Users' rows as arrays, one row a user, where an engine has fewer rows to go through that way."""

from __future__ import annotations

from collections.abc import Sequence

from shortlist.engines.tables._expressions import Expression, aggregate


def gathered(rows: Expression, keys: Sequence[str]) -> Expression:
    """One row for each value of the keys; what the other columns hold there, as arrays.

    The rows are sorted first, so that one array at a time is made.
    """
    rows = rows.order_by(keys)
    others = (name for name in rows.columns if name not in keys)
    return rows.group_by(keys).agg(**{name: arrayed(rows[name]) for name in others})


def arrayed(column: Expression) -> Expression:
    """The values of a group as an array."""
    return aggregate("array_agg", f"array<{column.type()}>", column)


def listed(arrays: Expression) -> Expression:
    """The rows that were gathered: as many for each row here as its arrays are long, if any."""
    if not any(dtype.is_array() for dtype in arrays.schema().values()):
        return arrays
    return arrays.select(
        **{
            name: arrays[name].unnest() if dtype.is_array() else arrays[name]
            for name, dtype in arrays.schema().items()
        }
    )
