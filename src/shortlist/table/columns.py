"""Columns by name, and which of their types identify a user or an item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from shortlist.errors import InputError, nearest
from shortlist.table.reading import Part, attempt

if TYPE_CHECKING:
    import polars as pl

__all__ = ["check_columns", "check_names", "column_type", "kind_of"]

_LISTED = 40  # columns named in a message at most


def check_names(user: str, items: Sequence[str]) -> list[str]:
    """The user's column and the items', each named once, by a string; refuse anything else."""
    names = [items] if isinstance(items, str) else list(items)
    for argument, name in [("user", user), *(("item", name) for name in names)]:
        if not isinstance(name, str):
            kind = type(name).__name__
            raise InputError(f"{argument}={name!r} is a {kind}; a column's name is a string.")
    if not names:
        raise InputError("item=[] names no column; name at least one.")
    for position, name in enumerate(names):
        if name == user:
            raise InputError(
                f'user="{user}" and item="{name}" are the same column; name two different ones.'
            )
        if name in names[:position]:
            raise InputError(f'item names the column "{name}" twice; name it once.')
    return [user, *names]


def check_columns(part: Part, roles: Mapping[str, str]) -> None:
    """Refuse the first name that the part does not have."""
    for name, role in roles.items():
        if name not in part.schema:
            known = any(other in part.schema for other in roles)
            columns = _columns_of(part, name, known=known)
            raise InputError(f'{part.origin}: {role}="{name}" is no column. {columns}')


def _columns_of(part: Part, name: str, *, known: bool) -> str:
    if part.is_text and not known:
        # None of the names fits: the first line may be a row, and a row is not shown.
        return "The first line must hold the columns' names; check it."
    names = [str(column) for column in part.schema]
    listed = ", ".join(f'"{column}"' for column in names[:_LISTED])
    more = ", …" if len(names) > _LISTED else ""
    return f"The columns are {listed}{more}.{nearest(name, names)}"


def column_type(parts: list[Part], name: str, role: str) -> pl.DataType:
    """The one type that a column has in all parts; text where there is no value at all."""
    import polars as pl

    found = {_part_type(part, name, role): part for part in parts}
    if len(found) > 1:
        found.pop(pl.Null(), None)
    (dtype, part), *others = found.items()
    if others:
        other, where = others[0]
        raise InputError(
            f'{part.argument}: {role}="{name}" is {dtype} in {_file(part)} and {other} in '
            f"{_file(where)}; write all files with one type."
        )
    return pl.String() if dtype == pl.Null else dtype


def _file(part: Part) -> str:
    return part.origin.rpartition("the file ")[2]


def _part_type(part: Part, name: str, role: str) -> pl.DataType:
    import polars as pl

    dtype = part.schema[name]
    if dtype in (pl.Object, pl.Unknown, pl.Categorical):  # only the values tell
        refusal = (
            f'{part.origin}: {role}="{name}" holds values that are of several kinds or that no '
            "column type fits; make them all strings, or all integers, first."
        )
        dtype = attempt(lambda: part.read([name]).collect_schema()[name], refusal)
    if dtype in (pl.Categorical, pl.Enum):
        return pl.String()
    if dtype != pl.Null and kind_of(dtype) is None:
        raise InputError(
            f'{part.origin}: {role}="{name}" is of type {dtype.base_type()}, which identifies no '
            f"{role}; cast it to a string or an integer first."
        )
    return dtype


def kind_of(dtype: pl.DataType) -> str | None:
    """Which of the accepted kinds of values a type holds; values of two kinds never agree."""
    import polars as pl

    if dtype == pl.String:
        return "text"
    if dtype.is_integer():
        return "integers"
    if dtype == pl.Date:
        return "dates"
    if isinstance(dtype, pl.Datetime):
        return "datetimes with a time zone" if dtype.time_zone else "datetimes"
    return None
