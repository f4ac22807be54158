"""What the stores in databases share: the names of a table, connections, and transactions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

from shortlist.databases.faults import guarded
from shortlist.errors import InputError, Words, in_quotes, named, nearest, shown
from shortlist.runtime.processes import even_unmade
from shortlist.stores.score_store import ScoreStore, StoredRows

_T = TypeVar("_T")
_MOST_COLUMNS_NAMED = 40


@dataclass(frozen=True)
class TableAndColumns:
    """The table, its column of items and its column of counts, by their names.

    >>> TableAndColumns("items", "title", None)
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
                listed = ", ".join(f'"{shown(column)}"' for column in names[:_MOST_COLUMNS_NAMED])
                more = ", …" if len(names) > _MOST_COLUMNS_NAMED else ""
                raise InputError(
                    "{origin}: {named} is not a column",
                    "The columns are {listed}{more}.{hint}",
                    origin=self.origin,
                    named=named(role, name),
                    listed=listed,
                    more=more,
                    hint=nearest(name, names),
                )


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


class DatabaseRows(StoredRows):
    """The rows of a table in one transaction, which begins here, of a connection of its own."""

    def __init__(
        self, connection: Any, names: TableAndColumns, complaint: Callable[[Exception], InputError]
    ) -> None:
        self.origin = names.counts
        self._connection, self._names, self._complaint = connection, names, complaint

    def complaint(self, error: Exception) -> InputError:
        return self._complaint(error)

    def close(self) -> None:
        with suppress(Exception):
            self._connection.close()


class DatabaseStore(ScoreStore):
    """A table in a database. To add a kind, say how it connects, complains and reads rows."""

    table_of: ClassVar[Callable[..., Any]]
    rows_of: ClassVar[Callable[..., DatabaseRows]]

    def __init__(self, names: TableAndColumns) -> None:
        super().__init__()
        self._names = names
        self.item, self.count = names.item, names.count

    @even_unmade
    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._names}>"

    def check(self) -> None:
        self._ask(lambda *found: self.table_of(*found).require_index())

    def rows(self) -> StoredRows:
        """The rows as they are now.

        Raises:
            InputError: There is no index by count, or there are no ids; the message has the
                statement that creates it.
        """
        connection = guarded(self._connect, self._complaint)
        try:
            return guarded(
                lambda: self.rows_of(connection, self._names, self._complaint), self._complaint
            )
        except BaseException:
            connection.close()
            raise

    def _ask(self, action: Callable[[Any, TableAndColumns], _T], *, writes: bool = False) -> _T:
        """What the action finds by a connection, which is closed then."""

        def ask() -> _T:
            with closing(self._connect(writes=writes)) as connection:
                return action(connection, self._names)

        return guarded(ask, self._complaint)

    @abstractmethod
    def _connect(self, *, writes: bool = False) -> Any: ...

    @abstractmethod
    def _complaint(self, error: Exception) -> InputError: ...
