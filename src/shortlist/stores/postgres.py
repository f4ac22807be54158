"""A store in a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from shortlist.databases.faults import Fault, fault_of_code, guarded
from shortlist.databases.postgres import LOST, code_of, connector
from shortlist.databases.quoting import quoted
from shortlist.draws import Ints
from shortlist.errors import InputError, Words, named, spending
from shortlist.stores._database import DatabaseRows, DatabaseStore, TableAndColumns
from shortlist.stores._postgres_table import PostgresTable, select
from shortlist.stores.score_store import PRIVATE

if TYPE_CHECKING:
    import polars as pl
    import psycopg

_URL = named(
    "url", Words('"postgresql://…"')
)  # it may hold a password, anywhere where it is mistyped


class PostgresRows(DatabaseRows):
    """Rows of a table, as the threshold algorithm reads them."""

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        names: TableAndColumns,
        complaint: Callable[[Exception], InputError],
    ) -> None:
        super().__init__(connection, names, complaint)
        connection.execute(b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self._table = table = PostgresTable(connection, names)
        with spending():
            ids = guarded(table.ids, complaint)
        table.require_index(ids.column)
        self.size = ids.size
        self._first = ids.first
        self._id = quoted(ids.column)
        self._last: tuple[int, int] | None = None

    def following(self, n: int) -> tuple[Ints, ArrayLike]:
        # It reads on in the index behind the last row, without passing over others.
        key = f"{self._table.count}, {self._id}"
        after = "" if self._last is None else f"WHERE ({key}) < ($2::int8, $3::int8)"
        query = (
            f"SELECT {key} FROM {self._table.name} {after} "
            f"ORDER BY {self._table.count} DESC, {self._id} DESC LIMIT $1"
        )
        read = select(self._connection, query, n, *(self._last or ()))
        if read:
            self._last = read[-1]
        ids = np.array([row for _, row in read], np.int64) - self._first
        return ids, [count for count, _ in read]

    def find(self, ids: Ints) -> tuple[Ints, ArrayLike]:
        read = self._look_up(self._table.count, ids)
        return np.array(list(read), np.int64), list(read.values())

    def items(self, ids: Ints) -> pl.DataFrame:
        import polars as pl

        read = self._look_up(self._table.item, ids)
        types = {"text": pl.String(), "integers": pl.Int64(), "dates": pl.Date()}
        items = [read[i] for i in ids.tolist()]
        return pl.DataFrame(pl.Series(self._names.item, items, types[self._table.item_type]))

    def _look_up(self, column: str, ids: Ints) -> dict[int, Any]:
        query = (
            f"SELECT {self._id}, {column} FROM {self._table.name} "
            f"WHERE {self._id} = ANY($1::int8[])"
        )
        read = select(self._connection, query, (ids + self._first).tolist())
        return {number - self._first: value for number, value in read}


class PostgresStore(DatabaseStore):
    """A table in PostgreSQL, with one row per item: the item, and how many users hold it.

    Each question has a connection of its own, and one transaction, read only and repeatable read.
    The id of an item is an integer column that is not null and has a unique index: the items
    themselves, the primary key or another; of several the one whose index with the counts is
    there, and then the one with the fewest gaps.

    Args:
        url: As libpq takes it: postgresql://user@host:5432/database. A password may be in it, and
            is never shown; PGPASSWORD or a password file keep it out of sight altogether.
        table: The table, or schema.table, by its name as it is written there.
        item: The column of items: text, integers, dates, UUIDs or enums, each in one row.
        count: The column of counts: smallint, integer or bigint. A count is checked when it
            is read: from 0 to 2^62.

    Raises:
        InputError: There is no such server, table or column, its type is wrong, or it may not be
            read.
    """

    table_of, rows_of = PostgresTable, PostgresRows
    costs = (1.0, 3.0)

    def __init__(self, url: str, *, table: str, item: str, count: str) -> None:
        if not isinstance(url, str):
            raise InputError(
                "must be a text such as postgresql://user@host:5432/database", given={"url": ...}
            )
        self._connected = connector(url, _URL)
        del url  # whoever prints the variables of an error's trace would show it
        super().__init__(TableAndColumns(table, item, count))
        self._ask(PostgresTable)

    def identity(self) -> object:
        """The server, the database, and its search path."""
        return self._place

    @property
    def shows_changes(self) -> bool:
        """Rows that are added do not show."""
        return False

    @cached_property
    def _place(self) -> list[object]:
        return self._ask(lambda connection, _: _place_of(connection))

    def prepare(self) -> None:
        """Create an index by count and id, where there is none.

        Until it is done nobody can write to the table. Where that is too long, run the statement
        of the refusal yourself, with CONCURRENTLY.

        Raises:
            InputError: There is no column of ids, or the index may not be created.
        """
        self._ask(lambda *found: PostgresTable(*found).prepare())

    def _connect(self, *, writes: bool = False) -> psycopg.Connection[Any]:  # noqa: ARG002 - any may
        return self._connected()

    def _complaint(self, error: Exception) -> InputError:
        from psycopg import InterfaceError, OperationalError

        code = code_of(error)
        is_lost = not code and isinstance(error, OperationalError | InterfaceError)
        fault = _LOST if is_lost else fault_of_code(code, _COMPLAINTS)
        return (fault or _UNKNOWN).of(self._names.origin)


def _place_of(connection: psycopg.Connection[Any]) -> list[object]:
    server = connection.info
    within = connection.execute(
        b"SELECT oid::text, current_schemas(false)::text FROM pg_database "
        b"WHERE datname = current_database()"
    )
    return [server.host, server.port, server.dbname, *(within.fetchone() or ())]


_UNKNOWN = Fault(
    "cannot be read: the server refuses a query, or a value cannot be taken over",
    "{private}",
    private=PRIVATE,
)
_LOST = Fault(
    "cannot be read any more: the connection to the server is lost", "Ask again when it runs"
)
_COMPLAINTS = {
    **dict.fromkeys(LOST, _LOST),
    "57014": Fault("cannot be read: the server ended the query, by a time limit or by hand"),
    "40": Fault("cannot be read at one moment: the server ended the transaction", "Ask again"),
    "42501": Fault("is not open to this user, or to change its indexes", "ask its owner"),
    "25006": Fault(
        "cannot be prepared where the server only reads", "prepare it on the primary server"
    ),
    "53": Fault(
        "cannot be read: the server has no room left, in memory, on disk or for connections"
    ),
}
