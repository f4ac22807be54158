"""Names of a table and its columns: as the caller wrote them, and as SQL quotes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

from shortlist.errors import InputError, Words, in_quotes, named, nearest, shown

__all__ = ["Names", "quoted"]

_LISTED = 40  # columns named in a message at most


@dataclass(frozen=True)
class Names:
    """The table, its column of items and its column of counts, by their names.

    >>> Names("items", "title", None)
    Traceback (most recent call last):
    shortlist.errors.InputError: count=None: must be its name, a string.
    """

    table: str
    item: str
    count: str

    def __post_init__(self) -> None:
        for field in fields(self):
            _require_name(field.name, getattr(self, field.name))
        if self.item == self.count:
            raise InputError(
                "{item=} and {count=} are the same column",
                "name two different ones",
                given={"item": in_quotes(self.item), "count": in_quotes(self.count)},
            )

    def __str__(self) -> str:
        return f'{self.origin}, item="{shown(self.item)}", count="{shown(self.count)}"'

    @property
    def origin(self) -> Words:
        """The table, in a message."""
        return named("table", self.table)

    @property
    def items(self) -> Words:
        """The table and its column of items, in a message."""
        return Words("{origin}: {item=}", origin=self.origin, given={"item": in_quotes(self.item)})

    @property
    def counts(self) -> Words:
        """The table and its column of counts, in a message."""
        return Words(
            "{origin}: {count=}", origin=self.origin, given={"count": in_quotes(self.count)}
        )

    def require_columns(self, columns: Iterable[str]) -> None:
        """Refuse the first name that is not among the columns of the table."""
        names = list(columns)
        for role, name in (("item", self.item), ("count", self.count)):
            if name not in names:
                listed = ", ".join(f'"{shown(column)}"' for column in names[:_LISTED])
                more = ", …" if len(names) > _LISTED else ""
                raise InputError(
                    "{origin}: {named} is not a column",
                    "The columns are {listed}{more}.{hint}",
                    origin=self.origin,
                    named=named(role, name),
                    listed=listed,
                    more=more,
                    hint=nearest(name, names),
                )


def quoted(name: str) -> str:
    """The name as SQL writes it, whatever characters are in it.

    >>> print(quoted('say "hi" twice'))
    "say ""hi"" twice"
    """
    return '"' + name.replace('"', '""') + '"'


def _require_name(argument: str, name: object) -> None:
    """Refuse what cannot be a name; what is no text is not quoted, for it may be data."""
    if not isinstance(name, str):
        raise InputError("must be its name, a string", given={argument: name})
    try:
        name.encode()
    except UnicodeEncodeError:
        name = ""
    if not name or "\0" in name:
        raise InputError(
            "is empty, or no text that a database can hold", "name it", given={argument: ...}
        )
