"""Columns by name, and which of their types identify a user or an item, or count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shortlist.errors import InputError, Words, in_quotes, named, nearest, shown
from shortlist.table.key_types import is_of_categories, key_type
from shortlist.table.part import TablePart, attempt

if TYPE_CHECKING:
    import polars as pl

_LISTED = 40  # columns named in a message at most
_WHY_NOT_SHOWN = "It is not shown: without names it would be somebody's row."


def check_roles(**named: object) -> dict[str, str]:
    """The roles of columns by their names, of which `item` and `by` may have several.

    What cannot be a name is refused. What is no string is not quoted, for it may be the data.

    >>> check_roles(user="reader", by="country", item=["page"])
    {'reader': 'user', 'country': 'by', 'page': 'item'}
    """
    roles: dict[str, str] = {}
    for argument, given in named.items():
        several = argument in ("item", "by") and isinstance(given, list | tuple)
        names: Any = given if several else [given]
        if not names:
            raise InputError("names no column", "name at least one", given={argument: Words("[]")})
        for name in names:
            _check_name(argument, name)
            if name in roles:
                raise _given_twice(roles[name], argument, name)
            roles[name] = argument
    return roles


def _check_name(argument: str, name: object) -> None:
    if not isinstance(name, str):
        raise InputError("a column is given by its name, a string", given={argument: name})
    if name in ("", "*") or (name.startswith("^") and name.endswith("$")):
        raise InputError(
            "{named}: a column of this name would be read as a pattern",
            "rename it",
            named=named(argument, name),
        )


def _given_twice(one: str, other: str, name: str) -> InputError:
    if one == other:
        return InputError(
            'names the column "{twice}" twice',
            "name it once",
            given={one: ...},
            twice=shown(name),
        )
    return InputError(
        "{one} and {other} are the same column",
        "name two different ones",
        one=named(one, name),
        other=named(other, name),
    )


def types_of(parts: list[TablePart], roles: Mapping[str, str]) -> dict[str, pl.DataType]:
    """The types of the columns by their roles.

    Raises:
        InputError: One is in no part, stands there twice, or is of no usable type.
    """
    for part in parts:
        check_columns(part, roles)
    return {name: _column_type(parts, name, role) for name, role in roles.items()}


def check_columns(part: TablePart, roles: Mapping[str, str]) -> None:
    """Refuse columns by their roles that are not in a part, or stand there twice."""
    for name, role in roles.items():
        said = _said(part, role, name)
        if name in part.repeated:
            raise InputError(
                "{said} stands twice in the first line",
                "give each column a name of its own",
                said=said,
            )
        if name not in part.schema:
            if "," in name and role == "user":
                raise InputError(
                    "{said} is no column: {user} takes one",
                    "name the column that tells users apart",
                    said=said,
                )
            known = any(other in part.schema for other in roles)
            several = Words(". For several columns {several_columns}")
            raise InputError(
                "{said} is not a column{several}",
                "{columns}{quoted}",
                said=said,
                several=several if "," in name and role in ("item", "by") else "",
                columns=_columns_of(part, name, known=known),
                quoted=" A text stands in single quotes." if role == "where" else "",
            )


def _columns_of(part: TablePart, name: str, *, known: bool) -> str:
    names = [str(column) for column in part.schema]
    if part.kind == "dict":  # perhaps of users and what they hold
        return "The keys of a dict must be the columns' names; check them."
    if part.is_text:  # whose first line may be a row, even if a name that was given is in it
        header = known and part.kind == "CSV" and all(map(str.isprintable, names))
        first = "The first line must hold the columns' names; check it"
        first = f"{first}, and the separator." if part.kind == "CSV" else f"{first}."
        first = f"{first} {_WHY_NOT_SHOWN}"
        # A line that has this very name, in letters of another case, is no row.
        hint = nearest(name, names, but_for_case=not header)
        return hint.strip() or first
    # Who writes Parquet says what a name is; a frame may be of a text that was taken apart wrongly.
    names = [repr(n)[1:-1] if part.kind == "Parquet" else n for n in names]
    listed = ", ".join(f'"{shown(column)}"' for column in names[:_LISTED])
    more = ", …" if len(names) > _LISTED else ""
    return f"The columns are {listed}{more}.{nearest(name, names)}"


def _said(part: TablePart, role: str, name: str) -> Words:
    if role == "where":  # which names it among others
        name_ = in_quotes(name)
        return Words(
            "{origin}: {name} in {where}", origin=part.origin, name=name_, given={"where": ...}
        )
    return Words("{origin}: {named}", origin=part.origin, named=named(role, name))


def _column_type(parts: list[TablePart], name: str, role: str) -> pl.DataType:
    """The one type that a column has in all parts; text, or a number, where there is no value."""
    import polars as pl

    found = {_part_type(part, name, role): part for part in parts}
    if len(found) > 1:
        found.pop(pl.Null(), None)
    (dtype, part), *others = found.items()
    if others:
        other, where = others[0]
        raise InputError(
            "{argument}: {named} is {dtype} in {file} and {other} in {file_}",
            "write all files with one type",
            argument=part.argument,
            named=named(role, name),
            dtype=dtype,
            file=_file(part),
            other=other,
            file_=_file(where),
        )
    if dtype == pl.Null:
        return {"count": pl.Int64(), "score": pl.Float64()}.get(role, pl.String())
    return dtype


def _file(part: TablePart) -> str | Words:
    return part.origin.values.get("file", part.origin)


def _part_type(part: TablePart, name: str, role: str) -> pl.DataType:
    import polars as pl

    dtype = part.schema[name]
    if role == "count":
        return _count_type(part, name)
    if role == "score":
        return _score_type(part, name)
    said = _said(part, role, name)
    if dtype == pl.Unknown:  # one found by looking would depend on the rows
        raise InputError(
            "{said} is of a type that is not known here",
            "cast it to a string or an integer first",
            said=said,
        )
    if dtype.base_type() == pl.Categorical:
        refusal = InputError(
            "{said} is of categories that are not all strings or all integers",
            "cast it to a string or an integer first",
            said=said,
        )
        dtype = part.categories.get(name) or attempt(
            lambda: part.read([name]).collect_schema()[name], refusal
        )
        if dtype.is_float():  # whether one has a fraction is not known before rows are read
            raise refusal
    if is_of_categories(dtype) or dtype == pl.Object:
        return pl.String()
    read_as = dtype if dtype == pl.Null else key_type(dtype)
    if read_as is None:
        raise InputError(
            "{said} is of type {base_type}, which identifies no {role}",
            "cast it to a string or an integer first",
            said=said,
            base_type=dtype if dtype == pl.Decimal else dtype.base_type(),
            role=role,
        )
    return read_as


def _count_type(part: TablePart, name: str) -> pl.DataType:
    """An integer type, or text of a file that declares no types: it is parsed when it is read."""
    import polars as pl

    dtype = part.schema[name]
    of_a_list = part.kind == "dict" and dtype == pl.String
    if dtype.is_integer() or dtype == pl.Null or part.is_text or of_a_list:
        return dtype
    if dtype == pl.Decimal and (whole := key_type(dtype)) is not None:  # as engines sum up
        return whole
    raise InputError(
        "{origin}: {count=} is of type {base_type}, and counts are whole numbers",
        "cast it to an integer first",
        given={"count": in_quotes(name)},
        origin=part.origin,
        base_type=dtype.base_type(),
    )


def _score_type(part: TablePart, name: str) -> pl.DataType:
    """A type of numbers that doubles hold, or text of a file that declares no types."""
    import polars as pl

    dtype = part.schema[name]
    of_a_list = part.kind == "dict" and dtype == pl.String
    if dtype.is_integer() or dtype.is_float() or dtype == pl.Null or part.is_text or of_a_list:
        return dtype
    raise InputError(
        "{origin}: {score=} is of type {base_type}, and scores are integers or floats",
        "cast it to a float first; the sensitivity must hold for the floats",
        given={"score": in_quotes(name)},
        origin=part.origin,
        base_type=dtype.base_type(),
    )
