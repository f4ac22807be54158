"""What databases are asked through Ibis: its tables, casts to text, and functions of theirs."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any, TypeAlias

Expression: TypeAlias = Any  # of Ibis: a table or a column, which nothing reads until it is fetched


def is_ibis(data: object) -> bool:
    """Whether this is an object of Ibis."""
    return type(data).__module__.partition(".")[0] == "ibis"


def as_text(column: Expression) -> Expression:
    """The column cast to text, whatever type of the database Ibis takes for text already.

    Of an enum or CHAR(n), say, Ibis would leave the cast out: both would be text to it, but for
    whether there may be nulls.
    """
    import ibis

    nullable = not column.type().nullable
    return column.cast(ibis.dtype("string", nullable=nullable))


def call(name: str, returned: str, *arguments: Expression) -> Expression:
    """A function of the database, by its own name, of one row's values."""
    import ibis

    return declared(ibis.udf.scalar, name, returned, arguments)(*arguments)


def declared(kind: Any, name: str, returned: str, arguments: tuple[Expression, ...]) -> Any:
    """What Ibis takes for a function with these parameters."""
    import ibis

    def function() -> None:
        """Only its signature is looked at."""

    names = [f"argument_{place}" for place in range(len(arguments))]
    function.__name__ = name
    function.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter(each, Parameter.POSITIONAL_OR_KEYWORD) for each in names]
    )
    types = tuple(argument.type() for argument in arguments)
    return kind.builtin(function, name=name, signature=(types, ibis.dtype(returned)))
